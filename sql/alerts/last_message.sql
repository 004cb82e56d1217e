--! about: The number of the last message; 0 if there is none.
select coalesce(max(message_number), 0) as last from ledger.outbox;
