--! about: The last run that is over, of each command that fetches.
--! grain: command
select
  command,
  run_number,
  outcome,
  exit_code,
  error,
  strftime(ended_at, '%Y-%m-%dT%H:%M:%SZ') as ended_at
from runs
where command = 'ingest' and outcome <> 'running'
qualify row_number() over (partition by command order by run_number desc) = 1
order by command
