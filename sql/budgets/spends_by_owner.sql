--! about: As spends, for budgets whose scope names owners: whose the cost is by the allocation rules.
--! grain: stretch
with scopes as (
  select unnest(
    from_json(
      $scopes,
      '[{"budget": "INTEGER", "account": ["VARCHAR"], "workspace": ["VARCHAR"], "resource_type": ["VARCHAR"],
        "resource_name": ["VARCHAR"], "billing_dimension": ["VARCHAR"],
        "team": ["VARCHAR"], "product": ["VARCHAR"], "environment": ["VARCHAR"]}]'
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
)
select stretches.stretch, cast(sum(costs.cost) as decimal(38, 12)) as cost
from stretches
join scopes on scope.budget = stretches.budget
join costs_allocated as costs
  on costs.bucket_start >= stretches.stretch_start
  and costs.bucket_start < stretches.stretch_end
  and (scope.account is null or list_contains(scope.account, costs.account))
  and (scope.workspace is null or list_contains(scope.workspace, costs.workspace))
  and (scope.resource_type is null or list_contains(scope.resource_type, costs.resource_type))
  and (scope.billing_dimension is null or list_contains(scope.billing_dimension, costs.billing_dimension))
  and (
    scope.resource_name is null
    or len(list_filter(scope.resource_name, lambda pattern: costs.resource_name like pattern escape '\')) > 0
  )
  and (scope.team is null or list_contains(scope.team, costs.team))
  and (scope.product is null or list_contains(scope.product, costs.product))
  and (scope.environment is null or list_contains(scope.environment, costs.environment))
where costs.bucket_start >= cast($from as timestamp) and costs.bucket_start < cast($to as timestamp)
group by stretches.stretch
order by stretches.stretch
