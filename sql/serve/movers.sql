--! about: The resources whose cost changed most between two windows of equal length that meet at $middle.
with
--! include: visible_costs
hours as (
  select
    series_id,
    sum(cost) filter (bucket_start >= cast($middle as timestamp)) as cost,
    sum(cost) filter (bucket_start < cast($middle as timestamp)) as cost_before
  from visible_costs
  group by series_id
)
select
  series.account,
  series.workspace,
  series.resource_type,
  series.resource_name,
  cast(coalesce(sum(hours.cost), 0) as decimal(38, 12)) as cost,
  cast(coalesce(sum(hours.cost_before), 0) as decimal(38, 12)) as cost_before,
  cast(coalesce(sum(hours.cost), 0) - coalesce(sum(hours.cost_before), 0) as decimal(38, 12)) as change
from hours
join visible_series as series using (series_id)
group by series.account, series.workspace, series.resource_type, series.resource_name
having change <> 0
order by abs(change) desc, series.workspace, series.resource_type, series.resource_name
limit cast($count as integer);
