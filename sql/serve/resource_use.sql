--! about: When a resource was last used, and what its storage cost in its last 24 complete hours: idle as in the report
--! about: idle, with its 14 days.
with own as (
  select series.series_id, series.account, contains(series.billing_dimension, 'storage') as is_storage, accounts.complete_through
  from visible_series as series
  join accounts using (account)
  where coalesce(series.resource_type, '') = $type
    and coalesce(series.workspace, '') = $workspace
    and coalesce(series.resource_name, '') = $name
    and accounts.complete_through is not null
),
hours as (
  select series_id, bucket_start, cost, usage
  from visible_hours
  where bucket_start >= cast($used_day as timestamp)
    and bucket_start < least(cast($used_day as timestamp) + interval 1 day, cast($since as timestamp))
  union all
  select series_id, bucket_start, cost, usage
  from visible_hours
  where bucket_start >= cast($storage_day as timestamp)
    and bucket_start < least(cast($storage_day as timestamp) + interval 1 day, cast($since as timestamp))
  union all
  select series_id, bucket_start, cost, usage
  from visible_hours
  where bucket_start >= cast($since as timestamp)
),
used as (
  select
    max(own.complete_through) as complete_through,
    max(hours.bucket_start) filter (not own.is_storage and hours.usage > 0) + interval 1 hour as last_used,
    min(hours.bucket_start) filter (own.is_storage) as storage_start,
    coalesce(sum(hours.cost) filter (own.is_storage and hours.bucket_start >= own.complete_through - interval 24 hour), 0)
      as storage_cost_of_last_day
  from hours
  join own using (series_id)
  where hours.bucket_start < own.complete_through
)
select
  strftime(last_used, '%Y-%m-%dT%H:%M:%SZ') as last_used,
  cast(date_diff('hour', last_used, complete_through) // 24 as integer) as unused_days,
  cast(storage_cost_of_last_day as decimal(38, 12)) as storage_cost_of_last_day,
  -- 730/24 of a day in whole trillionths of a dollar, as in the report.
  cast(
    cast((cast(storage_cost_of_last_day * 1000000000000 as hugeint) * 365 + 6) // 12 as decimal(38, 0))
    * 0.000000000001 as decimal(38, 12)
  ) as storage_cost_per_month,
  -- Of types whose storage alone is billed, such as volumes, nothing shows whether they are used.
  not exists (
    select 1
    from visible_series as series
    where coalesce(series.resource_type, '') = $type and not contains(series.billing_dimension, 'storage')
  ) as is_storage_only,
  storage_cost_of_last_day > 0
    and coalesce(last_used, storage_start) <= complete_through - interval 14 days as is_idle
from used;
