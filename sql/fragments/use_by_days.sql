--! about: CTEs that say when the series of own were used first and last, from days that are summed in advance (days, named,
--! about: used_types): what the CTEs of idle_resources need. They need own: visible series with is_storage and known_until,
--! about: the start of a day, as the report idle ends with one.
days as (
  select own.*, days.bucket_start, days.cost, days.first_bucket, days.last_used_bucket
  from own
  join visible_days as days using (series_id)
),
named as (
  select
    series_id, account, workspace, resource_type, resource_name, resource_uuid, is_storage, known_until,
    min(first_bucket) as first_bucket,
    max(last_used_bucket) as last_used_bucket,
    sum(cost) filter (bucket_start >= known_until - interval 24 hour) as cost_of_last_day
  from days
  where bucket_start < known_until
  group by all
),
used_types as (
  select distinct account, resource_type
  from visible_series
  where not coalesce(contains(billing_dimension, 'storage'), false)
),
