--! about: Where the rows to load differ from those of hours that were loaded before: the restatements of this load.
create or replace temp table changes as
with covered_before as (
  select window_start, window_end
  from ledger.covered
  where account = $account
    and window_start < cast($window_end as timestamp)
    and window_end > cast($window_start as timestamp)
),
now_there as (
  select series_id, bucket_start, cost, usage, load_number
  from ledger.amounts
  where account = $account
    and bucket_start >= cast($window_start as timestamp)
    and bucket_start < cast($window_end as timestamp)
),
to_load as (
  select loaded.series_id, loaded.bucket_start, loaded.cost, loaded.usage
  from loaded
  join covered_before
    on loaded.bucket_start >= covered_before.window_start and loaded.bucket_start < covered_before.window_end
)
select
  series_id,
  bucket_start,
  now_there.cost as old_cost,
  to_load.cost as new_cost,
  now_there.usage as old_usage,
  to_load.usage as new_usage,
  now_there.load_number as old_load_number
from now_there
full outer join to_load using (series_id, bucket_start)
where now_there.cost is distinct from to_load.cost or now_there.usage is distinct from to_load.usage;
