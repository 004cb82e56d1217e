--! about: What this load writes: rows to load that differ from stored rows by more than rounding. was_covered marks
--! about: hours loaded before: their changes are restatements. Other hours had no rows.
create or replace temp table changes as
with covered_before as (
  select
    greatest(covered.window_start, cast($window_start as timestamp)) as first_hour,
    -- Hours beyond the platform's clock at that time did not exist yet.
    least(covered.window_end, cast($window_end as timestamp), date_trunc('hour', loads.platform_at)) as end_hour
  from ledger.covered as covered
  join ledger.loads as loads using (load_number)
  where covered.account = $account
    and covered.replaced_by is null
    and covered.window_start < cast($window_end as timestamp)
    and covered.window_end > cast($window_start as timestamp)
),
covered_hours as (
  select unnest(generate_series(first_hour, end_hour - interval 1 hour, interval 1 hour)) as covered_hour
  from covered_before
),
now_there as (
  select
    series_id,
    cast(date_diff('hour', cast($window_start as timestamp), bucket_start) as integer) as bucket,
    cost,
    usage,
    load_number
  from ledger.hourly_costs
  where series_id in (select series_id from ledger.series where account = $account)
    and bucket_start >= cast($window_start as timestamp)
    and bucket_start < cast($window_end as timestamp)
),
-- Rows to load come first, in their order: they are stored in that order.
differing as (
  select
    loaded.series_id,
    loaded.bucket,
    now_there.cost as old_cost,
    loaded.cost as new_cost,
    now_there.usage as old_usage,
    loaded.usage as new_usage,
    now_there.load_number as old_load_number
  from loaded
  left join now_there using (series_id, bucket)
  where (now_there.cost is distinct from loaded.cost or now_there.usage is distinct from loaded.usage)
    and not coalesce(
      is_same_hour(now_there.cost, loaded.cost, 1e-12) and is_same_hour(now_there.usage, loaded.usage, 1e-6), false
    )
  union all
  select series_id, bucket, cost, null, usage, null, load_number
  from now_there
  anti join loaded using (series_id, bucket)
)
select
  series_id,
  cast($window_start as timestamp) + to_hours(bucket) as bucket_start,
  old_cost,
  new_cost,
  old_usage,
  new_usage,
  old_load_number,
  old_load_number is not null
    or cast($window_start as timestamp) + to_hours(bucket) in (select covered_hour from covered_hours) as was_covered
from differing;
