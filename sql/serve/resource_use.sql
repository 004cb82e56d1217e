--! about: When a resource was last used, and what its storage cost in its last 24 complete hours: idle as in the report
--! about: idle, with its 14 days. Listings are of all costs: with $is_owner they count for nothing.
with own as (
  select
    series.*,
    coalesce(contains(series.billing_dimension, 'storage'), false) as is_storage,
    accounts.complete_through,
    -- The report ends with a day.
    least(date_trunc('day', accounts.complete_through), cast($until as timestamp)) as known_until
  from visible_series as series
  join accounts using (account)
  where coalesce(series.resource_type, '') = $type
    and coalesce(series.workspace, '') = $workspace_name
    and coalesce(series.resource_name, '') = $name
    and accounts.complete_through is not null
),
--! include: use_by_days
listed_states as (
  select * from ledger.resources where not $is_owner and resource_type = $type and resource_name = $name
),
--! include: idle_resources
totals as (
  select
    max(complete_through) as complete_through,
    max(last_used_bucket) filter (not is_storage) + interval 1 hour as last_used,
    coalesce(
      sum(cost) filter (is_storage and bucket_start >= known_until - interval 24 hour and bucket_start < known_until), 0
    ) as storage_cost_of_last_day
  from days
  where first_bucket < complete_through
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
  not exists (from used_types where coalesce(resource_type, '') = $type) as is_storage_only,
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
