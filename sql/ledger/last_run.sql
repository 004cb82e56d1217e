--! about: The number of the last run; 0 if there is none.
select coalesce(max(run_number), 0) as run_number from ledger.runs;
