--! about: The number of the last load; 0 if there is none.
select coalesce(max(load_number), 0) as load_number from ledger.loads;
