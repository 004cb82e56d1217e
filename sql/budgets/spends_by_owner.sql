--! about: Like spends, for budgets whose scope names owners: their direct cost and share of shared cost by the allocation rules.
--! grain: spend_window, place
with
--! include: scopes
--! include: series_in_scopes
--! include: spend_windows
--! include: few_owners
-- Shared cost is split by month and pool: nothing of it is read unless a series of the scopes is in a pool.
--! include: hours_of_months
counted_hours as not materialized (
  select *
  from hours_of_months
  where exists (select 1 from owners semi join series_in_scopes using (series_id) where owners.is_split)
),
shares as materialized (
  with
  --! include: shares_in_hours
),
unsplit_hours as not materialized (select * from counted_hours),
--! include: split_costs
allocated as (
  select hourly_costs.series_id, hourly_costs.bucket_start, owners.owner, hourly_costs.cost, hourly_costs.usage
  from hourly_costs
  join owners
    on owners.series_id = hourly_costs.series_id
    and hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
  where not owners.is_split
  union all
  select series_id, bucket_start, owner, cost, usage
  from split
),
parts as materialized (
  select allocated.series_id, allocated.owner, boundaries.boundary,
    case
      when cast($of_usage as boolean) then cast(sum(allocated.usage) as decimal(38, 12))
      else cast(sum(allocated.cost) as decimal(38, 12))
    end as cost
  from allocated
  semi join series_in_scopes using (series_id)
  asof join boundaries on allocated.bucket_start >= boundaries.boundary
  where allocated.bucket_start >= cast($from as timestamp) and allocated.bucket_start < cast($to as timestamp)
  group by allocated.series_id, allocated.owner, boundaries.boundary
),
wanted_owners as (
  select wanted.id, owned.facts as owner
  from (select id, scope.owner as entries from scopes) as wanted
  join (select distinct owner as facts from parts) as owned
    on
    --! include: has_values
),
costs as (
  select
    spend_windows.spend_window,
    series.account,
    series.workspace,
    series.resource_type,
    series.resource_name,
    sum(parts.cost) as cost
  from spend_windows
  join series_in_scopes as members using (id)
  join wanted_owners using (id)
  join parts
    on parts.series_id = members.series_id
    and parts.owner = wanted_owners.owner
    and parts.boundary >= spend_windows.window_start
    and parts.boundary < spend_windows.window_end
  join series on series.series_id = members.series_id
  group by spend_windows.spend_window, series.account, series.workspace, series.resource_type, series.resource_name
),
--! include: largest_resources
