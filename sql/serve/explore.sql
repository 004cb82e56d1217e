--! about: Cost and usage by bucket ($step: hour, day, week, month) and one name of the series ($group_by), the $top largest
--! about: and all others, in a window and in the one that it is compared with (empty if both ends are equal). Filters that
--! about: are null admit everything.
with
--! include: explored_costs
keyed as (
  select
    series.series_id,
    series.unit,
    case $group_by
--! include: series_key
    end as key
  from visible_series as series
  where
--! include: series_filters
),
hours as (
  -- Names are joined after adding up by series, which is much less work.
  select
    series_id,
    bucket_start < cast($from as timestamp) as is_before,
    date_trunc($step, bucket_start) as bucket,
    sum(cost) as cost,
    sum(usage) as usage
  from explored_costs
  group by all
),
by_key as (
  select
    hours.bucket,
    hours.is_before,
    keyed.key,
    false as is_shared,
    sum(hours.cost) as cost,
    sum(hours.usage) as usage,
    min(keyed.unit) as unit,
    count(distinct coalesce(keyed.unit, '')) as units
  from hours
  join keyed using (series_id)
  group by all
),
--! include: ranked_groups
