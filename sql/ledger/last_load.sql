--! about: The number of the last load; 0 where there is none.
select coalesce(max(load_number), 0) as load_number from ledger.loads;
