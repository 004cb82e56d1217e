--! about: Like spends, for budgets whose scope names labels: those that the resource had in the hour of the cost.
--! grain: spend_window, place
with scopes as (
  select unnest(
    from_json(
      $scopes,
      '[{"budget": "INTEGER", "account": ["VARCHAR"], "workspace": ["VARCHAR"], "resource_type": ["VARCHAR"],
        "resource_name": ["VARCHAR"], "billing_dimension": ["VARCHAR"],
        "label": [{"pointer": "VARCHAR", "values": ["VARCHAR"]}]}]'
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
labels as (
  select distinct labels from ledger.resources where labels is not null
),
-- Every label in the scope must have one of its values.
fitting as (
  select scope.budget as budget, labels.labels
  from scopes
  join labels
    on len(
      list_filter(
        scope.label,
        lambda entry: coalesce(list_contains(entry.values, json_extract_string(labels.labels, entry.pointer)), false)
      )
    ) = len(scope.label)
),
resources as (
  select
    spend_windows.spend_window,
    costs.account,
    costs.workspace,
    costs.resource_type,
    costs.resource_name,
    sum(costs.cost) as cost
  from spend_windows
  join fitting on fitting.budget = spend_windows.budget
  join scopes on scope.budget = spend_windows.budget
  join costs_with_resources as costs
    on costs.labels = fitting.labels
    and costs.bucket_start >= spend_windows.window_start
    and costs.bucket_start < spend_windows.window_end
    and (scope.account is null or list_contains(scope.account, costs.account))
    and (scope.workspace is null or list_contains(scope.workspace, costs.workspace))
    and (scope.resource_type is null or list_contains(scope.resource_type, costs.resource_type))
    and (scope.billing_dimension is null or list_contains(scope.billing_dimension, costs.billing_dimension))
    and (
      scope.resource_name is null
      or len(list_filter(scope.resource_name, lambda pattern: costs.resource_name like pattern escape '\')) > 0
    )
  where costs.bucket_start >= cast($from as timestamp) and costs.bucket_start < cast($to as timestamp)
  group by spend_windows.spend_window, costs.account, costs.workspace, costs.resource_type, costs.resource_name
),
ranked as (
  select
    *,
    sum(cost) over (partition by spend_window) as total,
    row_number() over (
      partition by spend_window
      order by cost desc, account, workspace nulls first, resource_type nulls first, resource_name nulls first
    ) as place
  from resources
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
