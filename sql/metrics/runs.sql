--! about: How many runs of each command and job ended how, with the time and duration of the last one. A step of a job
--! about: counts as a run of its command. Seconds are null where the clock of the books did not advance.
--! grain: command, job, outcome
with ended as (
  select
    case when job is null then command end as command,
    job,
    run_number * 1000 as place,
    outcome,
    exit_code,
    ended_at,
    case when ended_at > started_at then (epoch_ms(ended_at) - epoch_ms(started_at)) / 1000 end as seconds
  from runs
  where outcome <> 'running'
  union all
  select step, null, run_number * 1000 + position, outcome, exit_code, ended_at, seconds
  from run_steps
  where outcome <> 'running'
)
select
  command,
  job,
  outcome,
  count(*) as runs,
  max(place) as place,
  epoch_ms(max_by(ended_at, place)) as ended_at,
  arg_max(exit_code, place) as exit_code,
  max_by(struct_pack(seconds := seconds), place).seconds as seconds
from ended
group by command, job, outcome
order by command nulls last, job, outcome
