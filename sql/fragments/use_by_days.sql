--! about: CTEs that say when the series of own were used first and last, from days that are summed in advance (days, named,
--! about: used_types): what the CTEs of idle_resources need. They need own: visible series with is_storage and known_until,
--! about: the start of a day, as the report idle ends with one. An owner of a part of a resource ($is_owner) learns whether any
--! about: part is used, and nothing of its cost.
days as (
  select own.*, days.bucket_start, days.cost, days.first_bucket, days.last_used_bucket
  from own
  join visible_days as days using (series_id)
  union all
  select
    own.* replace (
      series.series_id as series_id,
      series.resource_uuid as resource_uuid,
      series.billing_dimension as billing_dimension,
      coalesce(contains(series.billing_dimension, 'storage'), false) as is_storage
    ),
    days.day, 0, days.day + to_hours(days.first_hour), days.day + to_hours(days.last_used_hour)
  from (select distinct on (account, workspace, resource_type, resource_name) * from own where $is_owner) as own
  join series
    on series.account = own.account
    and series.workspace is not distinct from own.workspace
    and series.resource_type is not distinct from own.resource_type
    and series.resource_name is not distinct from own.resource_name
  join memory.main.day_costs as days on days.series_id = series.series_id
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
  from series
  where not coalesce(contains(billing_dimension, 'storage'), false)
),
