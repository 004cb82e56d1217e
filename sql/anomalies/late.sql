--! about: The cost added to each day, workspace, resource type and billing dimension after the day was first loaded.
--! grain: account, workspace, resource_type, billing_dimension, usage_day
with
--! include: series_by_access
moved as (
  select
    series_id,
    date_trunc('day', bucket_start) as usage_day,
    sum(coalesce(new_cost, 0) - coalesce(old_cost, 0)) as moved
  from ledger.restatements
  where bucket_start >= cast($from as timestamp)
  group by series_id, usage_day
)
select
  series.account,
  series.workspace,
  series.resource_type,
  series.billing_dimension,
  epoch_ms(moved.usage_day) // 86400000 as usage_day,
  cast(sum(moved.moved) as double) as moved
from moved
join series_by_access as series using (series_id)
group by series.account, series.workspace, series.resource_type, series.billing_dimension, moved.usage_day
having sum(moved.moved) >= 0.01
order by
  series.account,
  series.workspace nulls first,
  series.resource_type nulls first,
  series.billing_dimension nulls first,
  usage_day
