--! about: The last slot through which each job is done, and later slots whose runs were killed.
with tries as (
  select
    job, slot, coalesce(slot, min(started_at)) as due_at,
    -- The caller either holds the books or will query again once it does: a run recorded as running was killed.
    bool_or(outcome not in ('interrupted', 'running')) or count(*) >= $max_tries as is_over
  from runs
  where job is not null
  group by job, slot, case when slot is null then run_number end
),
through as (select job, max(due_at) filter (is_over) as done_through from tries group by job),
last_done as (
  select job, max_by(epoch_ms(ended_at) - epoch_ms(started_at), run_number) as last_done_ms
  from runs
  where job is not null and outcome = 'done'
  group by job
)
select
  job,
  any_value(last_done.last_done_ms) as last_done_ms,
  epoch_ms(any_value(through.done_through)) as done_through,
  string_agg(epoch_ms(tries.slot), ',' order by tries.slot) filter (
    not tries.is_over and tries.slot is not null
    and (through.done_through is null or tries.slot > through.done_through)
  ) as interrupted
from tries
join through using (job)
left join last_done using (job)
group by job
order by job;
