--! about: The steps of the three newest jobs, newest first: $rows of them, or all; all_rows says how many there are.
select
  run_number,
  position,
  step,
  strftime(started_at, '%Y-%m-%dT%H:%M:%SZ') as started_at,
  cast(round(seconds, 1) as varchar) as seconds,
  outcome,
  error,
  next_step,
  count(*) over () as all_rows
from run_steps
where run_number in (select distinct run_number from run_steps order by run_number desc limit 3)
order by run_number desc, position
limit cast($rows as bigint);
