--! about: What changed most in cost between two windows of the same hours: from $before_from to $before_to, and from $from to
--! about: $to. $by is resource, workspace or owner: the first dimension of the allocation rules, in which costs that are split are
--! about: one group. The names are of the resource that changed most, in the direction of its group, with what it cost. Whole days inside are summed in advance; hours are read of the days at both ends of each window.
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
  select parts.is_before, visible_days.series_id, visible_days.valid_at, visible_days.cost
  from visible_days
  join parts
    on parts.is_days and visible_days.bucket_start >= parts.part_start and visible_days.bucket_start < parts.part_end
  where visible_days.bucket_start >= cast($before_from as timestamp)
  union all
  select parts.is_before, visible_hours.series_id, visible_hours.bucket_start, visible_hours.cost
  from visible_hours
  join parts
    on not parts.is_days
    and visible_hours.bucket_start >= parts.part_start
    and visible_hours.bucket_start < parts.part_end
  where visible_hours.bucket_start >= cast($before_from as timestamp) and visible_hours.bucket_start < cast($to as timestamp)
),
members as (
  select
    series_id,
    case when $by = 'owner' then valid_at end as valid_at,
    sum(cost) filter (not is_before) as cost,
    sum(cost) filter (is_before) as cost_before
  from costs
  group by all
),
resources as (
  select
    case
      when $by = 'workspace' then coalesce(series.workspace, '')
      when $by = 'owner' and not coalesce(ownership.is_split, false)
        then coalesce(ownership.owner ->> ('/' || replace(replace(json_keys(ownership.owner)[1], '~', '~0'), '/', '~1')), '')
    end as group_name,
    case when $by = 'resource' then row(series.account, series.workspace, series.resource_type, series.resource_name) end
      as of_resource,
    coalesce(ownership.is_split, false) as is_shared,
    any_value(json_keys(ownership.owner)[1]) as dimension,
    series.account,
    series.workspace,
    series.resource_type,
    series.resource_name,
    coalesce(sum(members.cost), 0) as cost,
    coalesce(sum(members.cost_before), 0) as cost_before
  from members
  join visible_series as series using (series_id)
  left join visible_ownership as ownership
    on $by = 'owner'
    and ownership.series_id = members.series_id
    and members.valid_at >= ownership.from_time
    and members.valid_at < ownership.to_time
  group by group_name, of_resource, is_shared, series.account, series.workspace, series.resource_type, series.resource_name
),
ranked as (
  select
    *,
    sum(cost) over of_group as group_cost,
    sum(cost_before) over of_group as group_cost_before,
    max(dimension) over of_group as group_dimension
  from resources
  window of_group as (partition by group_name, of_resource)
)
select
  group_name,
  is_shared,
  group_dimension as dimension,
  account,
  workspace,
  resource_type,
  resource_name,
  cast(group_cost as decimal(38, 12)) as cost,
  cast(group_cost_before as decimal(38, 12)) as cost_before,
  cast(group_cost - group_cost_before as decimal(38, 12)) as change,
  cast(cost as decimal(38, 12)) as resource_cost,
  cast(cost_before as decimal(38, 12)) as resource_cost_before
from ranked
where group_cost <> group_cost_before
qualify row_number() over (
  partition by group_name, of_resource
  order by (cost - cost_before) * sign(group_cost - group_cost_before) desc, workspace, resource_type, resource_name
) = 1
order by abs(change) desc, workspace, resource_type, resource_name
limit cast($count as integer);
