--! about: Cost and usage by bucket ($step: hour, day, week, month) and one name of the series ($group_by), the $top largest
--! about: and all others, in a window and in the one that it is compared with (empty if both ends are equal). $filters is
--! about: a JSON list of conditions on these names.
with
--! include: explored_costs
--! include: explore_filters
keyed as (
  select
    series.series_id as member,
    series.unit,
    series.billing_dimension,
    case $group_by
--! include: series_key
    end as key,
    false as is_shared
  from visible_series as series
  cross join filters
  where len(list_filter(filters.conditions, lambda f : f.is_except = list_contains(f.listed, coalesce(
    case f.of
--! include: series_key
    end, '')))) = 0
),
member_costs as (
  select explored_costs.series_id as member, explored_costs.bucket_start, explored_costs.cost, explored_costs.usage
  from explored_costs
  semi join keyed on keyed.member = explored_costs.series_id
),
--! include: ranked_groups
