--! about: Landing folders of the loads whose numbers were received before an instant.
select landing from ledger.loads where seen_at < cast($instant as timestamp) and landing is not null;
