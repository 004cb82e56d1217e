--! about: What one more unit of usage cost, for each of the $series (a JSON list of names) in two windows: the slope of cost by usage
--! about: over the hours with a cost. A free allowance does not change it. Null where all hours have the same usage.
with asked as (
  select unnest(
    from_json($series, '[{"key": "VARCHAR", "workspace": "VARCHAR", "resource_type": "VARCHAR", "resource_name": "VARCHAR", "billing_dimension": "VARCHAR"}]'),
    recursive := true
  )
),
members as (
  select asked.key, series.series_id
  from visible_series as series
  join asked
    on asked.workspace is not distinct from series.workspace
    and asked.resource_type is not distinct from series.resource_type
    and asked.resource_name is not distinct from series.resource_name
    and asked.billing_dimension is not distinct from series.billing_dimension
)
select
  members.key,
  hours.bucket_start < cast($before_to as timestamp) as is_before,
  regr_slope(cast(hours.cost as double), cast(hours.usage as double)) as rate
from visible_hours as hours
join members using (series_id)
where hours.cost > 0
  and (
    (hours.bucket_start >= cast($before_from as timestamp) and hours.bucket_start < cast($before_to as timestamp))
    or (hours.bucket_start >= cast($from as timestamp) and hours.bucket_start < cast($to as timestamp))
  )
group by all;
