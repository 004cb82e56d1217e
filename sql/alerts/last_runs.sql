--! about: The last run that is over of each command that fetches or makes something: by itself, or as a step of a job. What a
--! about: check finds, and what no sink received, are facts of their own. A failed close is over when its month is closed,
--! about: and a failed step when the same command succeeded by itself.
--! grain: command
with by_themselves as (
  select command, run_number, 0 as position, outcome, exit_code, error, ended_at
  from runs
  where command = 'ingest' or (command = 'summarize' and outcome = 'done')
),
closed as (
  select strftime(billing_month, '%Y-%m') as month from ledger.closed_months
),
as_steps as (
  select
    -- Months and options of an ingest, a close or a summary change; reports are told apart by them.
    case when step = 'report' then command_line else step end as command,
    run_number, position, outcome, exit_code, error, ended_at
  from run_steps
  where step not in ('check', 'alert')
    and outcome <> 'left_out'
    -- "close 2026-09" of a month that somebody closed since.
    and not (
      step = 'close' and outcome <> 'done' and regexp_extract(command_line, '\d{4}-\d{2}') in (select month from closed)
    )
),
together as (
  select command, run_number, position, outcome, exit_code, error, ended_at from by_themselves
  union all
  select command, run_number, position, outcome, exit_code, error, ended_at from as_steps
)
select
  command,
  run_number,
  outcome,
  exit_code,
  error,
  strftime(ended_at, '%Y-%m-%dT%H:%M:%SZ') as ended_at
from together
where outcome <> 'running'
qualify row_number() over (partition by command order by run_number desc, position desc) = 1
order by command
