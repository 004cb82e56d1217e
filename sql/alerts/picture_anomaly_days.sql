--! about: Cost and usage by day of an account's workspace, resource type and billing dimension, from $from to $to.
with
known_series as (select * from series),
known_costs as (
  select series_id, bucket_start, cost, usage
  from hourly_costs
  where bucket_start >= cast($from as timestamp) and bucket_start < cast($to as timestamp)
),
--! include: days_of_anomaly
