--! about: The cost of each of $anomalies by hour of its first day, and the mean of the same hour over the four weeks before.
--! grain: anomaly, hour
with
--! include: series_by_access
asked as (
  select anomaly.anomaly as anomaly, anomaly.account as account, anomaly.workspace as workspace,
    anomaly.resource_type as resource_type, anomaly.billing_dimension as billing_dimension,
    cast(anomaly.day as timestamp) as day_start
  from (
    select unnest(
      from_json(
        $anomalies,
        '[{"anomaly": "INTEGER", "account": "VARCHAR", "workspace": "VARCHAR", "resource_type": "VARCHAR",
          "billing_dimension": "VARCHAR", "day": "VARCHAR"}]'
      )
    ) as anomaly
  )
),
members as (
  select asked.anomaly, asked.day_start, series.series_id
  --! include: series_of_asked
)
select
  members.anomaly,
  cast(date_part('hour', hourly_costs.bucket_start) as integer) as hour,
  cast(coalesce(sum(hourly_costs.cost) filter (hourly_costs.bucket_start >= members.day_start), 0) as double) as cost,
  cast(coalesce(sum(hourly_costs.cost) filter (hourly_costs.bucket_start < members.day_start), 0) as double) as base_cost
from members
join hourly_costs
  on hourly_costs.series_id = members.series_id
  and hourly_costs.bucket_start >= members.day_start - interval 28 day
  and hourly_costs.bucket_start < members.day_start + interval 1 day
where hourly_costs.bucket_start >= (select min(day_start) - interval 28 day from asked)
  and hourly_costs.bucket_start < (select max(day_start) + interval 1 day from asked)
group by members.anomaly, hour
order by members.anomaly, hour
