--! about: The last finished run of each command that fetches or writes something, alone or as a step of a job. Findings of
--! about: checks and undelivered messages have their own alerts. A failed close ends when its month is closed, a failed step
--! about: when the same command succeeds, alone or as a step, or its job with other reports. started_as is the command of
--! about: the run as its user started it.
--! grain: command
with by_themselves as (
  select command, run_number, 0 as position, outcome, exit_code, error, error_code, next_step, failures, ended_at
  from runs
  where command = 'ingest' or (command = 'summarize' and outcome = 'done')
),
closed as (
  select strftime(billing_month, '%Y-%m') as month from ledger.closed_months
),
reported as (
  select command, max(run_number) as run_number
  from runs
  semi join (from run_steps where step = 'report') as reports using (run_number)
  where outcome = 'done'
  group by command
),
as_steps as (
  select
    -- Arguments of ingest, close and summarize vary; those of a report identify it.
    case when step = 'report' then command_line else step end as command,
    run_number, position, outcome, exit_code, error, error_code, next_step, failures, ended_at
  from run_steps
  where step not in ('check', 'alert')
    and outcome <> 'left_out'
    -- "close 2026-09" if the month was closed since.
    and not (
      step = 'close' and outcome <> 'done' and regexp_extract(command_line, '\d{4}-\d{2}') in (select month from closed)
    )
    -- A report whose options were corrected has another command: its job has succeeded with the new one only.
    and not (
      step = 'report' and outcome <> 'done' and exists (
        from runs
        join reported on reported.command = runs.command and reported.run_number > runs.run_number
        where runs.run_number = run_steps.run_number
      )
    )
),
together as (
  select command, run_number, position, outcome, exit_code, error, error_code, next_step, failures, ended_at from by_themselves
  union all
  select command, run_number, position, outcome, exit_code, error, error_code, next_step, failures, ended_at from as_steps
),
counted as (
  select *, max(run_number) filter (where outcome = 'done') over (partition by command) as last_done
  from together
  where outcome <> 'running'
)
select
  counted.command,
  counted.run_number,
  runs.command as started_as,
  counted.outcome,
  counted.exit_code,
  counted.error,
  counted.error_code,
  counted.next_step,
  counted.failures,
  strftime(counted.ended_at, '%Y-%m-%dT%H:%M:%SZ') as ended_at,
  -- The first failure since the last success.
  strftime(
    min(counted.ended_at) filter (where counted.run_number > coalesce(counted.last_done, 0)) over (partition by counted.command),
    '%Y-%m-%dT%H:%M:%SZ'
  ) as failing_since
from counted
left join runs on runs.run_number = counted.run_number
qualify row_number() over (partition by counted.command order by counted.run_number desc, counted.position desc) = 1
order by counted.command
