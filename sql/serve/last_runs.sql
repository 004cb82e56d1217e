--! about: All runs, newest first.
select
  run_number,
  command,
  strftime(started_at, '%Y-%m-%dT%H:%M:%SZ') as started_at,
  strftime(ended_at, '%Y-%m-%dT%H:%M:%SZ') as ended_at,
  outcome,
  exit_code,
  error
from runs
order by run_number desc;
