--! about: The first month whose hours may have changed since alerts were last evaluated to the end; null if they never were
--! about: in this file, with these checks ($checks is their hash), or if other allocation rules apply since. Loads of that
--! about: run itself may be younger than its evaluation. A rebuilt file has no hash: nobody has checked it yet.
with evaluated as (
  select run_number from ledger.runs where command = 'alert' and outcome = 'done'
  union all
  select run_number from ledger.steps where step = 'alert' and outcome = 'done'
),
last_evaluated as (
  select max(run_number) as run_number from evaluated
),
loads as (
  select loads.window_start, loads.window_end, loads.run_number >= last_evaluated.run_number as is_new
  from ledger.loads as loads, last_evaluated
  where loads.outcome = 'loaded'
),
applied as (
  select max(allocations.run_number) >= any_value(last_evaluated.run_number) as is_new
  from ledger.allocations as allocations, last_evaluated
)
select
  case
    when (select run_number from last_evaluated) is not null
      and not coalesce((select is_new from applied), false)
      and exists (from ledger.applied_files where folder = 'checks' and hash = $checks)
      then epoch_ms(
        cast(
          date_trunc(
            'month', coalesce(min(window_start) filter (where is_new), max(window_end) - interval 1 hour)
          ) as timestamp
        )
      )
  end as first_hour
from loads;
