--! about: A run ends, successfully or not.
update ledger.runs
set
  ended_at = cast($ended_at as timestamp),
  outcome = case when cast($exit_code as integer) = 0 then 'done' else 'failed' end,
  exit_code = cast($exit_code as integer),
  failures = $failures
where run_number = cast($run_number as bigint);
