--! about: The resources whose cost changed most between two windows of the same hours: from $before_from to $before_to, and from
--! about: $from to $to. Whole days inside are summed in advance; hours are read of the days at both ends of each window.
with windows as (
  select
    is_before,
    window_start,
    window_end,
    date_trunc('day', window_start + interval 1 day - interval 1 microsecond) as first_day,
    greatest(date_trunc('day', window_end), first_day) as end_day
  from (
    values
      (true, cast($before_from as timestamp), cast($before_to as timestamp)),
      (false, cast($from as timestamp), cast($to as timestamp))
  ) as given(is_before, window_start, window_end)
),
parts as (
  select is_before, true as is_days, first_day as part_start, end_day as part_end from windows
  union all
  select is_before, false, window_start, least(window_end, first_day) from windows
  union all
  select is_before, false, end_day, window_end from windows
),
costs as (
  select parts.is_before, visible_days.series_id, visible_days.cost
  from visible_days
  join parts
    on parts.is_days and visible_days.bucket_start >= parts.part_start and visible_days.bucket_start < parts.part_end
  where visible_days.bucket_start >= cast($before_from as timestamp)
  union all
  select parts.is_before, visible_hours.series_id, visible_hours.cost
  from visible_hours
  join parts
    on not parts.is_days
    and visible_hours.bucket_start >= parts.part_start
    and visible_hours.bucket_start < parts.part_end
  where visible_hours.bucket_start >= cast($before_from as timestamp) and visible_hours.bucket_start < cast($to as timestamp)
),
members as (
  select series_id, sum(cost) filter (not is_before) as cost, sum(cost) filter (is_before) as cost_before
  from costs
  group by series_id
)
select
  series.account,
  series.workspace,
  series.resource_type,
  series.resource_name,
  cast(coalesce(sum(members.cost), 0) as decimal(38, 12)) as cost,
  cast(coalesce(sum(members.cost_before), 0) as decimal(38, 12)) as cost_before,
  cast(coalesce(sum(members.cost), 0) - coalesce(sum(members.cost_before), 0) as decimal(38, 12)) as change
from members
join visible_series as series using (series_id)
group by series.account, series.workspace, series.resource_type, series.resource_name
having change <> 0
order by abs(change) desc, series.workspace, series.resource_type, series.resource_name
limit cast($count as integer);
