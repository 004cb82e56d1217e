--! about: A step of a job run ends, successfully or not.
update ledger.steps
set
  outcome = $outcome,
  ended_at = cast($ended_at as timestamp),
  seconds = cast($seconds as decimal(12, 3)),
  exit_code = cast($exit_code as integer),
  failures = $failures,
  figures = $figures
where run_number = cast($run_number as bigint) and position = cast($position as integer);
