--! about: Where the landing folders of the loads are whose numbers were seen before an instant.
select landing from ledger.loads where seen_at < cast($instant as timestamp) and landing is not null;
