--! about: The runs that were killed since alerts were evaluated last, the newest first, each with the step that was running.
--! grain: run_number
with evaluated as (
  select max(run_number) as run_number
  from (
    select run_number from runs where command = 'alert' and outcome in ('done', 'failed')
    union all
    select run_number from run_steps where step = 'alert' and outcome in ('done', 'failed')
  )
)
select
  run_number,
  command,
  -- Runs of earlier versions have no words of their user.
  coalesce(command_line, command) as started_as,
  strftime(started_at, '%Y-%m-%dT%H:%M:%SZ') as started_at,
  (select max_by(step, position) from run_steps where run_number = runs.run_number and outcome = 'interrupted') as step
from ledger.runs as runs
where outcome = 'interrupted'
  -- The next alert does what a killed one did not.
  and command <> 'alert'
  -- Its user has done it again.
  and (
    command = 'ingest'
    or not exists (
      from ledger.runs as later
      where later.command_line = runs.command_line and later.outcome = 'done' and later.run_number > runs.run_number
    )
  )
  and run_number > coalesce((select run_number from evaluated), 0)
order by run_number desc
