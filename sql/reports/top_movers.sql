--! about: Which resources' costs changed most from the month before?
--! for: teams
--! grain: account, rank
--! params: month month = last-complete, limit integer = 20, account text = *, workspace text = *
--! top: none
--! important: resource_name, change, workspace, cost, base_cost, resource_type, change_type, rank, account
-- An unfinished month is compared with the same hours of the month before; compared_start, compared_end, base_start and
-- base_end show both windows. The limit applies to each account.
with months as (
  select
    cast($month as timestamp) as month_start,
    cast($month as timestamp) - interval 1 month as base_start,
    date_diff('hour', month_start, month_start + interval 1 month) as month_hours,
    date_diff('hour', base_start, month_start) as base_hours
),
--! include: hours_in_common
hours as (
  select
    hourly_costs.series_id,
    case
      when hourly_costs.bucket_start < common.compared_start or hourly_costs.bucket_start >= common.compared_end then hourly_costs.bucket_start
    end as own_hour,
    sum(hourly_costs.cost) as cost
  from hourly_costs
  cross join common
  where hourly_costs.bucket_start >= cast($month as timestamp)
    and hourly_costs.bucket_start < cast($month as timestamp) + interval 1 month
  group by all
),
base_hours as (
  select
    hourly_costs.series_id,
    case
      when hourly_costs.bucket_start < common.base_start or hourly_costs.bucket_start >= common.base_end then hourly_costs.bucket_start
    end as own_hour,
    sum(hourly_costs.cost) as cost
  from hourly_costs
  cross join common
  where hourly_costs.bucket_start >= cast($month as timestamp) - interval 1 month
    and hourly_costs.bucket_start < cast($month as timestamp)
  group by all
),
sides as (
  -- Whether a resource is new or gone depends on the whole other month, including hours that are not compared.
  select
    hours.series_id,
    case
      when hours.own_hour is null
        or (hours.own_hour >= of_series.compared_start and hours.own_hour < of_series.compared_end)
        then hours.cost
    end as cost,
    null as base_cost,
    true as is_in_month,
    false as is_in_base
  from hours
  join of_series using (series_id)
  union all
  select
    base_hours.series_id,
    null,
    case
      when base_hours.own_hour is null
        or (base_hours.own_hour >= of_series.base_start and base_hours.own_hour < of_series.base_end)
        then base_hours.cost
    end,
    false,
    true
  from base_hours
  join of_series using (series_id)
),
resources as (
  select
    series.account,
    series.workspace,
    series.resource_type,
    series.resource_name,
    series.resource_uuid,
    cast(coalesce(sum(sides.base_cost), 0) as decimal(38, 12)) as base_cost,
    cast(coalesce(sum(sides.cost), 0) as decimal(38, 12)) as cost,
    case when not bool_or(sides.is_in_base) then 'new' when not bool_or(sides.is_in_month) then 'gone' end as change_type
  from sides
  join series using (series_id)
  where $workspace is null or series.workspace = $workspace
  group by
    series.account,
    series.workspace,
    series.resource_type,
    series.resource_name,
    series.resource_uuid
),
ranked as (
  select
    account,
    workspace,
    resource_type,
    resource_name,
    resource_uuid,
    base_cost,
    cost,
    cast(cost - base_cost as decimal(38, 12)) as change,
    change_type,
    row_number() over (
      partition by account
      order by
        abs(cost - base_cost) desc,
        workspace nulls last,
        resource_type nulls last,
        resource_name nulls last,
        resource_uuid nulls last
    ) as rank
  from resources
  where cost <> base_cost
)
select
  ranked.account,
  cast(ranked.rank as integer) as rank,
  ranked.workspace,
  ranked.resource_type,
  ranked.resource_name,
  ranked.resource_uuid,
  ranked.base_cost,
  ranked.cost,
  ranked.change,
  cast(ranked.change / nullif(abs(ranked.base_cost), 0) as decimal(38, 6)) as change_share,
  ranked.change_type,
  compared.compared_start,
  compared.compared_end,
  compared.base_start,
  compared.base_end
from ranked
join compared using (account)
where ranked.rank <= $limit
