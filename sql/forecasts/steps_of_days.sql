--! about: How the costs of days are distributed over the steps of a history (see steps.sql). $days is a JSON list of a
--! about: workspace's resource type along a billing dimension, each with a range of UTC days, both included. A row without UUID
--! about: may have been evaluated in no workspace.
--! grain: place, day, step
with
asked as (
  select
    given.*,
    cast(given.first_day as timestamp) as from_time,
    cast(given.last_day as timestamp) + interval 1 day as to_time
  from (
    select unnest(
      from_json(
        $days,
        '[{
          "place": "INTEGER", "account": "VARCHAR", "workspace": "VARCHAR", "resource_type": "VARCHAR",
          "billing_dimension": "VARCHAR", "first_day": "VARCHAR", "last_day": "VARCHAR"
        }]'
      ),
      recursive := true
    )
  ) as given
),
--! include: cut_of_steps
members as (
  select asked.place, asked.from_time, asked.to_time, series.series_id
  from asked
  join series
    on series.account = asked.account
    and (
      series.workspace is not distinct from asked.workspace
      or (asked.workspace is null and series.resource_uuid is null)
    )
    and series.resource_type is not distinct from asked.resource_type
    and series.billing_dimension is not distinct from asked.billing_dimension
),
hours as (
  select members.place, epoch_ms(hourly_costs.bucket_start) // 3600000 as hour, hourly_costs.cost
  from members
  join hourly_costs
    on hourly_costs.series_id = members.series_id
    and hourly_costs.bucket_start >= members.from_time
    and hourly_costs.bucket_start < members.to_time
  -- Bounds of all, so that DuckDB reads no other hours.
  where hourly_costs.bucket_start >= (select min(from_time) from asked)
    and hourly_costs.bucket_start < (select max(to_time) from asked)
)
select
  hours.place,
  hours.hour // 24 as day,
  (hours.hour - cut.align) // cut.step_hours as step,
  cast(sum(hours.cost) as double) as cost,
  cast(
    coalesce(sum(hours.cost) filter ((hours.hour - cut.align) % cut.step_hours < cut.first_hours), 0) as double
  ) as first_cost
from hours
cross join cut
group by hours.place, day, step
order by hours.place, day, step
