--! about: As spends, for budgets whose scope names labels of the resource: those that it had in the hour of the cost.
--! grain: stretch, place
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
stretches as (
  select
    stretch.stretch as stretch,
    stretch.budget as budget,
    cast(stretch.start as timestamp) as stretch_start,
    cast(stretch.end as timestamp) as stretch_end
  from (
    select unnest(
      from_json($stretches, '[{"stretch": "INTEGER", "budget": "INTEGER", "start": "VARCHAR", "end": "VARCHAR"}]')
    ) as stretch
  )
),
labels as (
  select distinct labels from ledger.resources where labels is not null
),
-- Every label that is named must have one of its values.
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
    stretches.stretch,
    costs.account,
    costs.workspace,
    costs.resource_type,
    costs.resource_name,
    sum(costs.cost) as cost
  from stretches
  join fitting on fitting.budget = stretches.budget
  join scopes on scope.budget = stretches.budget
  join costs_with_resources as costs
    on costs.labels = fitting.labels
    and costs.bucket_start >= stretches.stretch_start
    and costs.bucket_start < stretches.stretch_end
    and (scope.account is null or list_contains(scope.account, costs.account))
    and (scope.workspace is null or list_contains(scope.workspace, costs.workspace))
    and (scope.resource_type is null or list_contains(scope.resource_type, costs.resource_type))
    and (scope.billing_dimension is null or list_contains(scope.billing_dimension, costs.billing_dimension))
    and (
      scope.resource_name is null
      or len(list_filter(scope.resource_name, lambda pattern: costs.resource_name like pattern escape '\')) > 0
    )
  where costs.bucket_start >= cast($from as timestamp) and costs.bucket_start < cast($to as timestamp)
  group by stretches.stretch, costs.account, costs.workspace, costs.resource_type, costs.resource_name
),
ranked as (
  select
    *,
    sum(cost) over (partition by stretch) as total,
    row_number() over (
      partition by stretch
      order by cost desc, account, workspace nulls first, resource_type nulls first, resource_name nulls first
    ) as place
  from resources
)
select
  stretch,
  place,
  cast(total as decimal(38, 12)) as total,
  account,
  workspace,
  resource_type,
  resource_name,
  cast(cost as decimal(38, 12)) as cost
from ranked
where place <= $drivers
order by stretch, place
