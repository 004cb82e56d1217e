--! about: The end of a query: cost and usage by day of an account's workspace, resource type and billing dimension, from the
--! about: CTEs known_series and known_costs (series_id, bucket_start, cost, usage).
scope as (
  select series_id
  from known_series
  where account = $account
    and workspace is not distinct from $workspace
    and resource_type is not distinct from $resource_type
    and billing_dimension is not distinct from $billing_dimension
)
select
  strftime(date_trunc('day', bucket_start), '%Y-%m-%d') as day,
  cast(sum(cost) as decimal(38, 12)) as cost,
  cast(sum(usage) as decimal(38, 6)) as usage
from known_costs
where series_id in (select series_id from scope)
group by all
order by day
