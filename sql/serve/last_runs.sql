--! about: Runs, newest first: $rows of them, or all; all_rows says how many there are.
select
  run_number,
  command,
  strftime(started_at, '%Y-%m-%dT%H:%M:%SZ') as started_at,
  strftime(ended_at, '%Y-%m-%dT%H:%M:%SZ') as ended_at,
  outcome,
  exit_code,
  error,
  (select count(*) from runs) as all_rows
from runs
order by run_number desc
limit cast($rows as bigint);
