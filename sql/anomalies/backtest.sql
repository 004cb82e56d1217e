--! about: How the known cost of each day, workspace, resource type and billing dimension changed from day to day, with
--! about: restatements undone. $from and $to bound the days of the costs. Hours before the first load count as known after
--! about: the hour plus the platform's lag.
--! grain: account, workspace, resource_type, billing_dimension
with first_seen as (
  select account, min(seen_at) as first_seen_at
  from ledger.loads
  group by account
),
restated as (
  select series_id, bucket_start, old_cost, old_usage, old_load_number, load_number
  from ledger.restatements
  where bucket_start >= cast($from as timestamp) and bucket_start < cast($to as timestamp)
),
-- As of a load, the books hold everything written up to it, minus everything replaced up to it.
written as (
  select
    hourly_costs.series_id,
    hourly_costs.bucket_start,
    hourly_costs.load_number,
    hourly_costs.cost,
    hourly_costs.usage,
    -- Rows that a load wrote without a restatement were new.
    restated.series_id is null as is_first
  from ledger.hourly_costs as hourly_costs
  left join restated
    on restated.series_id = hourly_costs.series_id
    and restated.bucket_start = hourly_costs.bucket_start
    and restated.load_number = hourly_costs.load_number
  where hourly_costs.bucket_start >= cast($from as timestamp) and hourly_costs.bucket_start < cast($to as timestamp)
  union all
  select
    old.series_id,
    old.bucket_start,
    old.old_load_number,
    old.old_cost,
    old.old_usage,
    not exists (
      select 1
      from restated as earlier
      where earlier.series_id = old.series_id
        and earlier.bucket_start = old.bucket_start
        and earlier.load_number = old.old_load_number
    )
  from restated as old
  where old.old_load_number is not null and old.old_cost is not null
  union all
  select series_id, bucket_start, load_number, -old_cost, -old_usage, false
  from restated
  where old_load_number is not null and old_cost is not null
),
known as (
  select
    written.series_id,
    date_trunc('day', written.bucket_start) as usage_day,
    --! include: known_at
    as known_at,
    written.cost,
    written.usage
  from written
  join ledger.loads as loads using (load_number)
  join first_seen on first_seen.account = loads.account
),
by_day as (
  select
    series_id,
    usage_day,
    --! include: known_day
    as known_day,
    sum(cost) as cost,
    sum(usage) as usage
  from known
  where known_at <= cast($now as timestamp)
  group by series_id, usage_day, known_day
),
scopes as (
  select
    series.account,
    series.workspace,
    series.resource_type,
    series.billing_dimension,
    by_day.usage_day,
    by_day.known_day,
    sum(by_day.cost) as cost,
    sum(by_day.usage) as usage
  from by_day
  join series using (series_id)
  group by
    series.account,
    series.workspace,
    series.resource_type,
    series.billing_dimension,
    by_day.usage_day,
    by_day.known_day
)
select
  account,
  workspace,
  resource_type,
  billing_dimension,
  to_json(list(epoch_ms(known_day) order by known_day, usage_day)) as known,
  to_json(list(epoch_ms(usage_day) // 86400000 order by known_day, usage_day)) as days,
  to_json(list(cast(cost as double) order by known_day, usage_day)) as costs,
  to_json(list(cast(usage as double) order by known_day, usage_day)) as usages
from scopes
group by account, workspace, resource_type, billing_dimension
order by account, workspace nulls first, resource_type nulls first, billing_dimension nulls first
