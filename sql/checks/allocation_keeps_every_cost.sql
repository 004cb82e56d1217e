--! about: costs_allocated has exactly the same cost and usage as costs, for each series and month.
--! severity: fail
--! hours: by month
with loaded as (
  select series_id, date_trunc('month', bucket_start) as usage_month, sum(cost) as cost, sum(usage) as usage
  from ledger.hourly_costs
  group by series_id, usage_month
),
allocated as (
  select series_id, date_trunc('month', bucket_start) as usage_month, sum(cost) as cost, sum(usage) as usage
  from costs_allocated
  group by series_id, usage_month
)
select
  coalesce(loaded.series_id, allocated.series_id) as series_id,
  cast(coalesce(loaded.usage_month, allocated.usage_month) as date) as usage_month,
  loaded.cost as loaded_cost,
  allocated.cost as allocated_cost,
  loaded.usage as loaded_usage,
  allocated.usage as allocated_usage
from loaded
full outer join allocated
  on allocated.series_id = loaded.series_id and allocated.usage_month = loaded.usage_month
where loaded.cost is distinct from allocated.cost or loaded.usage is distinct from allocated.usage
order by series_id, usage_month
