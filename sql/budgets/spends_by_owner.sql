--! about: Like spends, for budgets whose scope names owners: their direct cost and share of shared cost by the allocation rules.
--! grain: spend_window, place
with
--! include: scopes
--! include: series_in_scopes
--! include: spend_windows
parts as materialized (
  select costs_allocated.series_id, costs_allocated.owner, boundaries.boundary,
    case
      when cast($of_usage as boolean) then cast(sum(costs_allocated.usage) as decimal(38, 12))
      else cast(sum(costs_allocated.cost) as decimal(38, 12))
    end as cost
  from costs_allocated
  asof join boundaries on costs_allocated.bucket_start >= boundaries.boundary
  where costs_allocated.bucket_start >= cast($from as timestamp)
    and costs_allocated.bucket_start < cast($to as timestamp)
  group by costs_allocated.series_id, costs_allocated.owner, boundaries.boundary
),
owners as (
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
  join owners using (id)
  join parts
    on parts.series_id = members.series_id
    and parts.owner = owners.owner
    and parts.boundary >= spend_windows.window_start
    and parts.boundary < spend_windows.window_end
  join series on series.series_id = members.series_id
  group by spend_windows.spend_window, series.account, series.workspace, series.resource_type, series.resource_name
),
--! include: largest_resources
