--! about: What an owner ($owner) is charged for the month by billing dimension, direct and shared.
select
  series.account,
  series.billing_dimension,
  series.unit,
  cast(sum(costs.usage) as decimal(38, 6)) as usage,
  cast(coalesce(sum(costs.cost) filter (not costs.is_shared), 0) as decimal(38, 12)) as direct_cost,
  cast(coalesce(sum(costs.cost) filter (costs.is_shared), 0) as decimal(38, 12)) as shared_cost,
  cast(sum(costs.cost) as decimal(38, 12)) as cost
from statement_costs as costs
join series using (series_id)
where costs.named = $owner and costs.is_month
group by series.account, series.billing_dimension, series.unit
order by cost desc, account, billing_dimension, unit;
