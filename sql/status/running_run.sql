--! about: The run that had not ended when the books were published, and its running step.
select
  runs.run_number, runs.command, runs.command_line, strftime(runs.started_at, '%Y-%m-%dT%H:%M:%SZ') as started_at,
  (select max_by(step, position) from ledger.steps where run_number = runs.run_number and outcome = 'running') as step
from ledger.runs as runs
where runs.outcome = 'running'
order by runs.run_number desc
limit 1;
