--! about: Like spends_by_owner, for scopes that name owners and nothing else but accounts. Shared cost is summed by hour and
--! about: owner, which is a fraction of the work. A resource's part of shared cost is in proportion to its own cost.
--! grain: spend_window, place
with
--! include: scopes
--! include: spend_windows
--! include: few_owners
-- Of hours that are split, the whole cost; their part follows.
parts as materialized (
  select hourly_costs.series_id, owners.from_time, boundaries.boundary, sum(hourly_costs.cost) as cost
  from hourly_costs
  join owners
    on owners.series_id = hourly_costs.series_id
    and hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
  asof join boundaries on hourly_costs.bucket_start >= boundaries.boundary
  where hourly_costs.bucket_start >= cast($from as timestamp) and hourly_costs.bucket_start < cast($to as timestamp)
  group by hourly_costs.series_id, owners.from_time, boundaries.boundary
),
-- Shared cost is split by month: only the months that the windows touch are read.
pool_hours as materialized (
  select
    owners.rule_number,
    any_value(owners.rule) as rule,
    any_value(owners.owner) as owner,
    series.account,
    hourly_costs.bucket_start,
    cast(date_trunc('month', hourly_costs.bucket_start) as date) as usage_month,
    cast(sum(hourly_costs.cost) as decimal(38, 12)) as cost,
    cast(sum(abs(hourly_costs.cost)) as decimal(38, 12)) as size
  from hourly_costs
  join owners on owners.series_id = hourly_costs.series_id
  join ledger.series as series on series.series_id = hourly_costs.series_id
  where owners.is_split
    and hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
    and hourly_costs.bucket_start >= date_trunc('month', cast($from as timestamp))
    and hourly_costs.bucket_start < date_trunc('month', cast($to as timestamp) - interval 1 microsecond) + interval 1 month
  group by owners.rule_number, series.account, hourly_costs.bucket_start
),
--! include: rules_and_mount_splits
--! include: pools_by_month
direct_numbers as (
  select
    owners.series_id,
    owners.from_time,
    cast(date_trunc('month', hourly_costs.bucket_start) as date) as usage_month,
    sum(hourly_costs.cost) as cost,
    sum(hourly_costs.usage) as usage
  from hourly_costs
  join owners on owners.series_id = hourly_costs.series_id
  where not owners.is_split
    and hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
    and hourly_costs.bucket_start >= date_trunc('month', cast($from as timestamp))
    and hourly_costs.bucket_start < date_trunc('month', cast($to as timestamp) - interval 1 microsecond) + interval 1 month
  group by owners.series_id, owners.from_time, usage_month
),
shares as materialized (
  with
  --! include: shares_of_pools
),
shared_hours as (
  with
  --! include: proportions
  pools as (select * from pool_hours),
  --! include: shared_cost_of_pools
),
shared as materialized (
  select shared_hours.rule_number, shared_hours.account, shared_hours.owner, boundaries.boundary, sum(shared_hours.cost) as cost
  from shared_hours
  asof join boundaries on shared_hours.bucket_start >= boundaries.boundary
  where shared_hours.bucket_start >= cast($from as timestamp) and shared_hours.bucket_start < cast($to as timestamp)
  group by shared_hours.rule_number, shared_hours.account, shared_hours.owner, boundaries.boundary
),
members as (
  select wanted.id, wanted.accounts, owned.facts as owner
  from (select id, scope.owner as entries, scope.account as accounts from scopes) as wanted
  join (select owner as facts from owners where not is_split union select owner from shared) as owned
    on
    --! include: has_values
),
direct_costs as (
  select spend_windows.spend_window, parts.series_id, sum(parts.cost) as cost
  from spend_windows
  join members using (id)
  join owners on owners.owner = members.owner and not owners.is_split
  join parts
    on parts.series_id = owners.series_id
    and parts.from_time = owners.from_time
    and parts.boundary >= spend_windows.window_start
    and parts.boundary < spend_windows.window_end
  join series
    on series.series_id = parts.series_id
    and (members.accounts is null or list_contains(members.accounts, series.account))
  group by spend_windows.spend_window, parts.series_id
),
shared_costs as (
  select spend_windows.spend_window, shared.rule_number, shared.account, sum(shared.cost) as cost
  from spend_windows
  join members using (id)
  join shared
    on shared.owner = members.owner
    and (members.accounts is null or list_contains(members.accounts, shared.account))
    and shared.boundary >= spend_windows.window_start
    and shared.boundary < spend_windows.window_end
  group by spend_windows.spend_window, shared.rule_number, shared.account
),
pool_costs as (
  select
    shared_costs.spend_window,
    shared_costs.rule_number,
    shared_costs.account,
    parts.series_id,
    any_value(shared_costs.cost) as shared_cost,
    sum(parts.cost) as cost
  from shared_costs
  join spend_windows using (spend_window)
  join owners on owners.rule_number = shared_costs.rule_number and owners.is_split
  join series on series.series_id = owners.series_id and series.account = shared_costs.account
  join parts
    on parts.series_id = owners.series_id
    and parts.from_time = owners.from_time
    and parts.boundary >= spend_windows.window_start
    and parts.boundary < spend_windows.window_end
  group by shared_costs.spend_window, shared_costs.rule_number, shared_costs.account, parts.series_id
),
costs as (
  select
    found.spend_window,
    series.account,
    series.workspace,
    series.resource_type,
    series.resource_name,
    sum(found.cost) as cost
  from (
    select spend_window, series_id, cost from direct_costs
    union all
    select
      spend_window,
      series_id,
      cast(
        cast(cost as double) * cast(shared_cost as double)
        / nullif(cast(sum(cost) over (partition by spend_window, rule_number, account) as double), 0)
        as decimal(38, 12)
      )
    from pool_costs
  ) as found
  join series using (series_id)
  group by found.spend_window, series.account, series.workspace, series.resource_type, series.resource_name
),
totals as (
  select spend_window, sum(cost) as total
  from (
    select spend_window, cost from direct_costs
    union all
    select spend_window, cost from shared_costs
  )
  group by spend_window
),
ranked as (
  select
    costs.*,
    totals.total,
    row_number() over (
      partition by costs.spend_window
      order by
        costs.cost desc nulls last, costs.account, costs.workspace nulls first, costs.resource_type nulls first,
        costs.resource_name nulls first
    ) as place
  from costs
  join totals using (spend_window)
)
select
  spend_window,
  place,
  cast(total as decimal(38, 12)) as total,
  account,
  workspace,
  resource_type,
  resource_name,
  cast(coalesce(cost, 0) as decimal(38, 12)) as cost
from ranked
where place <= $drivers
order by spend_window, place
