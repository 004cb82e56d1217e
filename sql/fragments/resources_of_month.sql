--! about: The end of a query: each resource with its cost of a month ($month) and of the month before, from the CTE costs
--! about: (series_id, is_month, cost).
known as (
  select
    --! include: has_month_before
  from accounts
)
select
  series.account,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  --! include: cost_and_month_before
from costs
join series using (series_id)
cross join known
group by
  series.account, series.workspace, series.resource_type, series.resource_name, series.resource_uuid,
  known.has_month_before
having known.has_month_before or coalesce(bool_or(costs.is_month), false)
