--! about: Spend in a window and in the one before, in total and for the resources that changed most, for a summary. Windows
--! about: start and end on whole hours; cost is null if no hour has a row. Months that are closed have the costs of their
--! about: close; current_cost has what changed since.
--! grain: line
with hours as (
  select series_id, bucket_start, cost from hourly_costs where not cast($is_of_months as boolean)
  union all
  select series_id, bucket_start, cost from hourly_costs_billed where cast($is_of_months as boolean)
),
sides as (
  select
    series_id,
    sum(cost) filter (bucket_start >= cast($start as timestamp)) as cost,
    sum(cost) filter (bucket_start < cast($start as timestamp)) as cost_before
  from hours
  where bucket_start >= cast($before as timestamp) and bucket_start < cast($end as timestamp)
  group by series_id
),
resources_moved as (
  select
    coalesce(series.resource_type, '(no type)') || ' ' || coalesce(series.resource_name, '(no name)')
    || case when series.workspace is null then '' else ' in ' || series.workspace end as name,
    cast(sum(sides.cost) as decimal(38, 12)) as cost,
    cast(sum(sides.cost_before) as decimal(38, 12)) as cost_before
  from sides
  join series using (series_id)
  group by name
),
movers as (
  select name, coalesce(cost, 0) as cost, coalesce(cost_before, 0) as cost_before
  from resources_moved
  order by abs(coalesce(cost, 0) - coalesce(cost_before, 0)) desc, name
  limit 5
)
select
  0 as line,
  null as name,
  cast(cast(sum(cost) as decimal(38, 12)) as varchar) as cost,
  cast(cast(sum(cost_before) as decimal(38, 12)) as varchar) as cost_before,
  (
    select cast(cast(sum(cost) as decimal(38, 12)) as varchar)
    from hourly_costs
    where bucket_start >= cast($start as timestamp) and bucket_start < cast($end as timestamp)
  ) as current_cost
from sides
union all
select
  cast(row_number() over (order by abs(cost - cost_before) desc, name) as integer),
  name,
  cast(cast(cost as decimal(38, 12)) as varchar),
  cast(cast(cost_before as decimal(38, 12)) as varchar),
  null
from movers
where cost <> cost_before
order by line
