--! about: What an owner ($owner) is charged for the month by billing dimension, direct and shared; then corrections of
--! about: earlier months that the month ($month) bills.
with costs as (
  select series_id, null as charge_class, cast($month as date) as incurred_month, is_shared, cost, usage
  from statement_costs
  where named = $owner and is_month
  union all
  select series_id, 'Correction', usage_month, is_shared, cost, usage
  from statement_corrections
  where named = $owner
)
select
  series.account,
  costs.charge_class,
  costs.incurred_month,
  series.billing_dimension,
  series.unit,
  cast(sum(costs.usage) as decimal(38, 6)) as usage,
  cast(coalesce(sum(costs.cost) filter (not costs.is_shared), 0) as decimal(38, 12)) as direct_cost,
  cast(coalesce(sum(costs.cost) filter (costs.is_shared), 0) as decimal(38, 12)) as shared_cost,
  cast(sum(costs.cost) as decimal(38, 12)) as cost
from costs
join series using (series_id)
group by series.account, costs.charge_class, costs.incurred_month, series.billing_dimension, series.unit
order by charge_class nulls first, incurred_month, cost desc, account, billing_dimension, unit;
