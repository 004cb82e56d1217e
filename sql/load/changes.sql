--! about: Where the rows to load differ from the rows that are there: what this load writes. was_covered tells the hours
--! about: that were loaded before, whose changes are restatements; in the others there was nothing.
create or replace temp table changes as
with covered_before as (
  select window_start, window_end
  from ledger.covered
  where account = $account
    and replaced_by is null
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
differing as (
  select
    series_id,
    bucket_start,
    now_there.cost as old_cost,
    loaded.cost as new_cost,
    now_there.usage as old_usage,
    loaded.usage as new_usage,
    now_there.load_number as old_load_number
  from now_there
  full outer join loaded using (series_id, bucket_start)
  where now_there.cost is distinct from loaded.cost or now_there.usage is distinct from loaded.usage
)
select
  series_id, bucket_start, old_cost, new_cost, old_usage, new_usage, old_load_number,
  covered_before.window_start is not null as was_covered
from differing
left join covered_before
  on differing.bucket_start >= covered_before.window_start and differing.bucket_start < covered_before.window_end;
