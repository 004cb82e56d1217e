--! about: When a resource was last used, and what its storage cost in its last 24 complete hours: idle as in the report
--! about: idle, with its 14 days. Listings are of all costs: with $is_owner they count for nothing.
with own as (
  select
    series.*,
    coalesce(contains(series.billing_dimension, 'storage'), false) as is_storage,
    accounts.complete_through,
    -- The report ends with a day.
    date_trunc('day', accounts.complete_through) as known_until
  from visible_series as series
  join accounts using (account)
  where coalesce(series.resource_type, '') = $type
    and coalesce(series.workspace, '') = $workspace_name
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
named as (
  select
    own.series_id,
    own.account,
    own.workspace,
    own.resource_type,
    own.resource_name,
    own.resource_uuid,
    own.is_storage,
    own.known_until,
    min(hours.bucket_start) as first_bucket,
    max(hours.bucket_start) filter (hours.usage > 0) as last_used_bucket,
    sum(hours.cost) filter (hours.bucket_start >= own.known_until - interval 24 hour) as cost_of_last_day
  from own
  join hours on hours.series_id = own.series_id and hours.bucket_start < own.known_until
  group by all
),
used_types as (
  select distinct series.account, series.resource_type
  from visible_series as series
  where coalesce(series.resource_type, '') = $type
    and not coalesce(contains(series.billing_dimension, 'storage'), false)
),
listed_states as (
  select * from ledger.resources where not $is_owner and resource_type = $type and resource_name = $name
),
--! include: idle_resources
totals as (
  select
    max(own.complete_through) as complete_through,
    max(hours.bucket_start) filter (not own.is_storage and hours.usage > 0) + interval 1 hour as last_used,
    coalesce(
      sum(hours.cost) filter (
        own.is_storage and hours.bucket_start >= own.known_until - interval 24 hour and hours.bucket_start < own.known_until
      ),
      0
    ) as storage_cost_of_last_day
  from hours
  join own using (series_id)
  where hours.bucket_start < own.complete_through
)
select
  strftime(totals.last_used, '%Y-%m-%dT%H:%M:%SZ') as last_used,
  cast(date_diff('hour', totals.last_used, totals.complete_through) // 24 as integer) as unused_days,
  cast(totals.storage_cost_of_last_day as decimal(38, 12)) as storage_cost_of_last_day,
  -- 730/24 of a day in whole trillionths of a dollar, as in the report.
  cast(
    cast((cast(totals.storage_cost_of_last_day * 1000000000000 as hugeint) * 365 + 6) // 12 as decimal(38, 0))
    * 0.000000000001 as decimal(38, 12)
  ) as storage_cost_per_month,
  -- Of types whose storage alone is billed, such as volumes, nothing shows whether they are used.
  not exists (from used_types) as is_storage_only,
  -- Of several resources with one name, one that is used makes the name used.
  idle.resources > 0 and idle.resources = (select count(*) from resources where cost_of_last_day > 0) as is_idle,
  idle.reason,
  idle.idle_days
from totals
cross join (
  select
    count(*) as resources,
    string_agg(distinct reason, '; ') as reason,
    cast(min(date_diff('hour', unused_since, known_until) // 24) as integer) as idle_days
  from unused
) as idle;
