--! about: Like spends, for budgets whose scope names owners: their direct cost and share of shared cost by the allocation rules.
--! grain: spend_window, place
with scopes as (
  select unnest(
    from_json(
      $scopes,
      '[{"budget": "INTEGER", "account": ["VARCHAR"], "workspace": ["VARCHAR"], "resource_type": ["VARCHAR"],
        "resource_name": ["VARCHAR"], "billing_dimension": ["VARCHAR"],
        "owner": [{"pointer": "VARCHAR", "values": ["VARCHAR"]}]}]'
    )
  ) as scope
),
spend_windows as (
  select
    spend_window.spend_window as spend_window,
    spend_window.budget as budget,
    cast(spend_window.start as timestamp) as window_start,
    cast(spend_window.end as timestamp) as window_end
  from (
    select unnest(
      from_json($spend_windows, '[{"spend_window": "INTEGER", "budget": "INTEGER", "start": "VARCHAR", "end": "VARCHAR"}]')
    ) as spend_window
  )
),
members as (
  select scope.budget as budget, series.series_id
  from scopes
  join series
    on (scope.account is null or list_contains(scope.account, series.account))
    and (scope.workspace is null or list_contains(scope.workspace, series.workspace))
    and (scope.resource_type is null or list_contains(scope.resource_type, series.resource_type))
    and (scope.billing_dimension is null or list_contains(scope.billing_dimension, series.billing_dimension))
    and (
      scope.resource_name is null
      or len(list_filter(scope.resource_name, lambda pattern: series.resource_name like pattern escape '\')) > 0
    )
),
boundaries as (
  select window_start as boundary from spend_windows
  union
  select window_end from spend_windows
),
parts as materialized (
  select costs_allocated.series_id, costs_allocated.owner, boundaries.boundary, sum(costs_allocated.cost) as cost
  from costs_allocated
  asof join boundaries on costs_allocated.bucket_start >= boundaries.boundary
  where costs_allocated.bucket_start >= cast($from as timestamp)
    and costs_allocated.bucket_start < cast($to as timestamp)
  group by costs_allocated.series_id, costs_allocated.owner, boundaries.boundary
),
-- Every dimension in the scope must have one of its values.
owners as (
  select scope.budget as budget, owned.owner
  from scopes
  join (select distinct owner from parts) as owned
    on len(
      list_filter(
        scope.owner,
        lambda entry: coalesce(list_contains(entry.values, json_extract_string(owned.owner, entry.pointer)), false)
      )
    ) = len(scope.owner)
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
  join members using (budget)
  join owners using (budget)
  join parts
    on parts.series_id = members.series_id
    and parts.owner = owners.owner
    and parts.boundary >= spend_windows.window_start
    and parts.boundary < spend_windows.window_end
  join series on series.series_id = members.series_id
  group by spend_windows.spend_window, series.account, series.workspace, series.resource_type, series.resource_name
),
ranked as (
  select
    *,
    sum(cost) over (partition by spend_window) as total,
    row_number() over (
      partition by spend_window
      order by cost desc, account, workspace nulls first, resource_type nulls first, resource_name nulls first
    ) as place
  from costs
)
select
  spend_window,
  place,
  cast(total as decimal(38, 12)) as total,
  account,
  workspace,
  resource_type,
  resource_name,
  cast(cost as decimal(38, 12)) as cost
from ranked
where place <= $drivers
order by spend_window, place
