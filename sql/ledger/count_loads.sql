--! about: The number of loads, and the last load number; they are equal if no load is missing.
select count(*) as loads, coalesce(max(load_number), 0) as last from wh.ledger.loads;
