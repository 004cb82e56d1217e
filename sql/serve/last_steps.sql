--! about: The steps of the newest runs, newest run first.
select
  run_number,
  position,
  step,
  strftime(started_at, '%Y-%m-%dT%H:%M:%SZ') as started_at,
  cast(round(seconds, 1) as varchar) as seconds,
  outcome,
  error,
  next_step
from run_steps
where run_number in (select distinct run_number from run_steps order by run_number desc limit 3)
order by run_number desc, position;
