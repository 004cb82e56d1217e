--! about: As drivers, for budgets whose scope names labels.
--! grain: name
with scopes as (
  select unnest(
    from_json(
      $scope,
      '[{"account": ["VARCHAR"], "workspace": ["VARCHAR"], "resource_type": ["VARCHAR"],
        "resource_name": ["VARCHAR"], "billing_dimension": ["VARCHAR"],
        "label": [{"pointer": "VARCHAR", "values": ["VARCHAR"]}]}]'
    )
  ) as scope
)
select
  coalesce(costs.resource_type, '(no type)') || ' ' || coalesce(costs.resource_name, '(no name)')
  || case when costs.workspace is null then '' else ' in ' || costs.workspace end as name,
  cast(cast(sum(costs.cost) as decimal(38, 12)) as varchar) as cost
from costs_with_resources as costs
join scopes
  on (scope.account is null or list_contains(scope.account, costs.account))
  and (scope.workspace is null or list_contains(scope.workspace, costs.workspace))
  and (scope.resource_type is null or list_contains(scope.resource_type, costs.resource_type))
  and (scope.billing_dimension is null or list_contains(scope.billing_dimension, costs.billing_dimension))
  and (
    scope.resource_name is null
    or len(list_filter(scope.resource_name, lambda pattern: costs.resource_name like pattern escape '\')) > 0
  )
  and len(
    list_filter(
      scope.label,
      lambda label: coalesce(list_contains(label.values, json_extract_string(costs.labels, label.pointer)), false)
    )
  ) = len(scope.label)
where costs.bucket_start >= cast($from as timestamp) and costs.bucket_start < cast($to as timestamp)
group by name
having sum(costs.cost) > 0
order by sum(costs.cost) desc, name
limit 3
