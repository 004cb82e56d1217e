--! about: The cost of the largest day of each anomaly. An anomaly without any cost left has no row.
--! grain: anomaly_key
with
--! include: series_by_access
asked as (
  select unnest(
    from_json(
      $anomalies,
      '[{
        "anomaly_key": "VARCHAR", "account": "VARCHAR", "workspace": "VARCHAR", "resource_type": "VARCHAR",
        "billing_dimension": "VARCHAR", "first_day": "VARCHAR", "last_day": "VARCHAR"
      }]'
    ),
    recursive := true
  )
),
days as (
  select asked.anomaly_key, date_trunc('day', hourly_costs.bucket_start) as usage_day, sum(hourly_costs.cost) as cost
  --! include: series_of_asked
  join hourly_costs
    on hourly_costs.series_id = series.series_id
    and hourly_costs.bucket_start >= cast(asked.first_day as timestamp)
    and hourly_costs.bucket_start < cast(asked.last_day as timestamp) + interval 1 day
  -- Bounds of all, so that DuckDB reads no other hours.
  where hourly_costs.bucket_start >= (select min(cast(first_day as timestamp)) from asked)
    and hourly_costs.bucket_start < (select max(cast(last_day as timestamp)) + interval 1 day from asked)
  group by asked.anomaly_key, usage_day
)
select anomaly_key, cast(max(cost) as varchar) as largest_cost
from days
group by anomaly_key
order by anomaly_key
