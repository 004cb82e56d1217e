--! about: How many loads there are, and the number of the last; equal where none is missing.
select count(*) as loads, coalesce(max(load_number), 0) as last from wh.ledger.loads;
