--! about: Cost and usage by workspace, resource type, billing dimension and UTC day, from $from to $to. Costs are summed by
--! about: series first, in one pass.
--! grain: account, workspace, resource_type, billing_dimension
with
--! include: series_by_access
of_series as (
  select series_id, date_trunc('day', bucket_start) as usage_day, sum(cost) as cost, sum(usage) as usage
  from hourly_costs
  where bucket_start >= cast($from as timestamp) and bucket_start < cast($to as timestamp)
  group by series_id, usage_day
),
days as (
  select
    series.account,
    series.workspace,
    series.resource_type,
    series.billing_dimension,
    of_series.usage_day,
    sum(of_series.cost) as cost,
    sum(of_series.usage) as usage
  from of_series
  join series_by_access as series using (series_id)
  where list_contains(cast(from_json($accounts, '["VARCHAR"]') as varchar[]), series.account)
  group by series.account, series.workspace, series.resource_type, series.billing_dimension, of_series.usage_day
)
select
  account,
  workspace,
  resource_type,
  billing_dimension,
  to_json(list(epoch_ms(usage_day) // 86400000 order by usage_day)) as days,
  to_json(list(cast(cost as double) order by usage_day)) as costs,
  to_json(list(cast(usage as double) order by usage_day)) as usages
from days
group by account, workspace, resource_type, billing_dimension
order by account, workspace nulls first, resource_type nulls first, billing_dimension nulls first
