--! about: The last run, under the names of the JSON answer.
select
  run_number as "runNumber", command, strftime(started_at, '%Y-%m-%dT%H:%M:%SZ') as "startedAt",
  strftime(ended_at, '%Y-%m-%dT%H:%M:%SZ') as "endedAt", outcome, exit_code as "exitCode", error,
  error_code as "errorCode", next_step as "nextStep", failures
from runs order by run_number desc limit 1;
