--! about: The number of the last message; 0 where there is none.
select coalesce(max(message_number), 0) as last from ledger.outbox;
