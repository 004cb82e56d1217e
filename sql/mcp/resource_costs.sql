--! about: What a resource cost in each of its newest months, by billing dimension.
with months as (
  select account, workspace, resource_type, usage_month as first_day, billing_dimension, unit, usage, cost
  from costs_monthly
  where resource_name = $name and (workspace = $workspace or $workspace is null)
)
select
  account, workspace, resource_type, strftime(first_day, '%Y-%m') as "month", billing_dimension, unit,
  cast(sum(usage) as varchar) as usage, cast(sum(cost) as varchar) as cost
from months
group by account, workspace, resource_type, first_day, billing_dimension, unit
order by first_day desc, sum(cost) desc, account, workspace, resource_type, billing_dimension
limit 201;
