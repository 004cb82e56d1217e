--! about: The last run that is over of each command that fetches or makes something: by itself, or as a step of a job. What a
--! about: check finds, and what is told to nobody, are facts of their own.
--! grain: command
with by_themselves as (
  select command, run_number, 0 as position, outcome, exit_code, error, ended_at
  from runs
  where command = 'ingest'
),
as_steps as (
  select
    -- Months and options of an ingest, a close or a digest change; reports are told apart by them.
    case when step = 'report' then command_line else step end as command,
    run_number, position, outcome, exit_code, error, ended_at
  from run_steps
  where step not in ('check', 'alert') and outcome <> 'left_out'
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
