--! about: For each of $anomalies, the resources whose cost changed most compared with the four weeks before its first day,
--! about: scaled to the expected cost of its days. The row with place 0 is the total of all resources.
--! grain: anomaly, place
with
--! include: series_by_access
asked as (
  select anomaly.anomaly as anomaly, anomaly.account as account, anomaly.workspace as workspace,
    anomaly.resource_type as resource_type, anomaly.billing_dimension as billing_dimension,
    cast(anomaly.day as timestamp) as day_start,
    cast(anomaly.last_day as timestamp) + interval 1 day as days_end, anomaly.expected as expected
  from (
    select unnest(
      from_json(
        $anomalies,
        '[{"anomaly": "INTEGER", "account": "VARCHAR", "workspace": "VARCHAR", "resource_type": "VARCHAR",
          "billing_dimension": "VARCHAR", "day": "VARCHAR", "last_day": "VARCHAR", "expected": "DOUBLE"}]'
      )
    ) as anomaly
  )
),
members as (
  select
    asked.anomaly, asked.day_start, asked.days_end, series.series_id, series.resource_name, series.resource_uuid
  --! include: series_of_asked
),
hourly_costs_near as (
  select series_id, date_trunc('day', bucket_start) as usage_day, sum(cost) as cost, sum(usage) as usage
  from hourly_costs
  semi join members using (series_id)
  where bucket_start >= (select min(day_start) - interval 28 day from asked)
    and bucket_start < (select max(days_end) from asked)
  group by series_id, usage_day
),
resources as (
  select
    members.anomaly,
    members.resource_name,
    members.resource_uuid,
    coalesce(sum(hourly_costs_near.cost) filter (hourly_costs_near.usage_day = members.day_start), 0) as first_cost,
    coalesce(sum(hourly_costs_near.cost) filter (hourly_costs_near.usage_day >= members.day_start), 0) as cost,
    coalesce(sum(hourly_costs_near.usage) filter (hourly_costs_near.usage_day >= members.day_start), 0) as usage,
    coalesce(sum(hourly_costs_near.cost) filter (hourly_costs_near.usage_day < members.day_start), 0) as base_cost,
    coalesce(sum(hourly_costs_near.usage) filter (hourly_costs_near.usage_day < members.day_start), 0) as base_usage
  from members
  join hourly_costs_near
    on hourly_costs_near.series_id = members.series_id
    and hourly_costs_near.usage_day >= members.day_start - interval 28 day
    and hourly_costs_near.usage_day < members.days_end
  group by members.anomaly, members.resource_name, members.resource_uuid
),
largest_days as (
  select anomaly, max(cost) as largest_day
  from (
    select members.anomaly, hourly_costs_near.usage_day, sum(hourly_costs_near.cost) as cost
    from members
    join hourly_costs_near
      on hourly_costs_near.series_id = members.series_id
      and hourly_costs_near.usage_day >= members.day_start
      and hourly_costs_near.usage_day < members.days_end
    group by members.anomaly, hourly_costs_near.usage_day
  )
  group by anomaly
),
sums as (
  select
    anomaly,
    sum(first_cost) as first_cost,
    sum(cost) as cost,
    sum(usage) as usage,
    sum(base_cost) as base_cost,
    sum(base_usage) as base_usage
  from resources
  group by anomaly
),
placed as (
  select
    resources.*,
    case
      when sums.base_cost > 0
        then asked.expected * cast(resources.base_cost as double) / cast(sums.base_cost as double)
      else 0
    end as expected
  from resources
  join sums using (anomaly)
  join asked using (anomaly)
),
ranked as (
  select
    *,
    row_number() over (
      partition by anomaly
      order by abs(cast(cost as double) - expected) desc, resource_name nulls last, resource_uuid nulls last
    ) as place
  from placed
)
select
  anomaly, 0 as place, null as resource_name, null as resource_uuid,
  cast(first_cost as decimal(38, 12)) as first_cost, cast(cost as decimal(38, 12)) as cost, cast(usage as double) as usage,
  cast(base_cost as double) as base_cost, cast(base_usage as double) as base_usage,
  cast(null as double) as expected, cast(largest_day as decimal(38, 12)) as largest_day
from sums
left join largest_days using (anomaly)
union all
select
  anomaly, cast(place as integer), resource_name, resource_uuid, cast(first_cost as decimal(38, 12)),
  cast(cost as decimal(38, 12)), cast(usage as double),
  cast(base_cost as double), cast(base_usage as double), expected, null
from ranked
where place <= $drivers
order by anomaly, place
