--! about: The end of a query: the cost of each scope by step, from the CTEs cut and members (id, series_id, from_time, to_time,
--! about: parts, all_parts): the hours of series in a scope, in full or as parts of all_parts.
hours as (
  select
    members.id,
    epoch_ms(hourly_costs.bucket_start) // 3600000 - cut.align as hour,
    --! include: part_of_cost
    as cost
  from members
  cross join cut
  join (
    select
      series_id, bucket_start,
      case when cast($of_usage as boolean) then cast(usage as decimal(38, 12)) else cost end as cost
    from hourly_costs
    where bucket_start >= cast($from as timestamp) and bucket_start < cast($to as timestamp)
  ) as hourly_costs
    on hourly_costs.series_id = members.series_id
    and hourly_costs.bucket_start >= members.from_time
    and hourly_costs.bucket_start < members.to_time
)
select
  hours.id as scope,
  hours.hour // cut.step_hours as step,
  cast(sum(hours.cost) as decimal(38, 12)) as cost,
  cast(coalesce(sum(hours.cost) filter (hours.hour % cut.step_hours < cut.first_hours), 0) as decimal(38, 12)) as first_cost
from hours
cross join cut
group by hours.id, step
order by scope, step
