--! about: The resource whose cost changed most between the last two whole weeks.
with bounds as (select date_trunc('day', complete_through) as week_end from accounts),
weeks as (
  select
    workspace, resource_type, resource_name,
    sum(cost) filter (bucket_start >= week_end - interval 7 days) as this_week,
    sum(cost) filter (bucket_start < week_end - interval 7 days) as week_before
  from costs cross join bounds
  where bucket_start >= week_end - interval 14 days and bucket_start < week_end
  group by workspace, resource_type, resource_name
)
select
  workspace, resource_type, resource_name,
  cast(coalesce(week_before, 0) as decimal(18, 2)) as week_before,
  cast(coalesce(this_week, 0) as decimal(18, 2)) as this_week
from weeks
order by abs(coalesce(this_week, 0) - coalesce(week_before, 0)) desc, resource_name
limit 1;
