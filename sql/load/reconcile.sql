--! about: Every comparison of the window with the platform's totals, one row each. Runs after compare_hours. Half units
--! about: are half of the last decimal of the platform's totals.
create or replace temp table window_reconciliation as
with point_sums as (
  select
    entry,
    sum(cost) as cost,
    sum(usage) as usage,
    count(*) as row_count,
    sum(abs(cost)) as cost_magnitude,
    sum(abs(usage)) as usage_magnitude
  from staged_points
  group by entry
),
entry_sums as (
  select
    staged_entries.entry,
    staged_entries.query,
    staged_entries.billing_dimension,
    staged_entries.cost as group_cost,
    staged_entries.usage as group_usage,
    coalesce(point_sums.cost, 0) as cost,
    coalesce(point_sums.usage, 0) as usage,
    coalesce(point_sums.row_count, 0) as row_count,
    coalesce(point_sums.cost_magnitude, 0) as cost_magnitude,
    coalesce(point_sums.usage_magnitude, 0) as usage_magnitude
  from staged_entries
  left join point_sums using (entry)
),
query_sums as (
  select
    staged_queries.query,
    staged_queries.purpose,
    staged_queries.name,
    staged_queries.lowest_total,
    staged_queries.highest_total,
    count(entry_sums.entry) as row_count,
    coalesce(sum(entry_sums.row_count), 0) as points,
    coalesce(sum(entry_sums.group_cost), 0) as cost,
    coalesce(sum(entry_sums.cost_magnitude), 0) as cost_magnitude
  from staged_queries
  left join entry_sums using (query)
  group by all
),
-- The hours of each billing dimension, whichever query sums them.
dimension_sums as (
  select
    billing_dimension,
    sum(our_cost) as cost,
    sum(cost_magnitude) as cost_magnitude,
    sum(usage_magnitude) as usage_magnitude,
    sum(row_count) as row_count
  from compared_hours
  group by billing_dimension
),
rows_sum as (
  select
    coalesce(sum(cost), 0) as cost,
    coalesce(sum(cost_magnitude), 0) as cost_magnitude,
    coalesce(sum(row_count), 0) as row_count
  from dimension_sums
),
-- The pages of a query add up to its total. The total may include rows without UUID that the detail omits: where the
-- platform is known to do so ($leaves_out), all rows together may match the total instead.
pages_to_total as (
  select
    case
      when meets_with_all_rows then 'all_rows_match_total.detail'
      else 'pages_match_total.' || replace(name, ' ', '_')
    end as check_code,
    'cost' as measure,
    cast(null as varchar) as billing_dimension,
    case when meets_with_all_rows then rows_row_count else row_count end as row_count,
    case when meets_with_all_rows then rows_cost else cost end as ours,
    case when meets_with_all_rows then rows_total else total end as theirs,
    case when meets_with_all_rows then rows_tolerance else tolerance end as tolerance
  from (
    select
      query_sums.name,
      query_sums.row_count,
      query_sums.cost,
      farther_of(query_sums.cost, query_sums.lowest_total, query_sums.highest_total) as total,
      farther_of(rows_sum.cost, query_sums.lowest_total, query_sums.highest_total) as rows_total,
      rows_sum.row_count as rows_row_count,
      rows_sum.cost as rows_cost,
      -- Groups and total are sums of the same hours in two groupings, each rounded separately.
      tolerance_of(
        greatest(query_sums.points, rows_sum.row_count),
        greatest(query_sums.cost_magnitude, rows_sum.cost_magnitude),
        1e-12, $cost_half_unit, greatest(query_sums.row_count, 1), $agreed
      ) as tolerance,
      tolerance_of(rows_sum.row_count, rows_sum.cost_magnitude, 1e-12, $cost_half_unit, 1, $agreed) as rows_tolerance,
      $leaves_out
        and query_sums.purpose = 'detail'
        and abs(query_sums.cost - total) > tolerance
        and abs(rows_sum.cost - rows_total) <= rows_tolerance as meets_with_all_rows
    from query_sums
    cross join rows_sum
  )
),
-- A group of the detail is a series with hours as points; the points of other groups are sums.
entries_beneath as (
  select
    entry_sums.*,
    case when staged_queries.purpose = 'detail' then 1 else greatest(entry_sums.row_count, 1) end as roundings,
    case
      when staged_queries.purpose = 'detail' then entry_sums.row_count
      else greatest(entry_sums.row_count, coalesce(dimension_sums.row_count, 0))
    end as hours,
    case
      when staged_queries.purpose = 'detail' then entry_sums.cost_magnitude
      else greatest(entry_sums.cost_magnitude, coalesce(dimension_sums.cost_magnitude, 0))
    end as cost_beneath,
    case
      when staged_queries.purpose = 'detail' then entry_sums.usage_magnitude
      else greatest(entry_sums.usage_magnitude, coalesce(dimension_sums.usage_magnitude, 0))
    end as usage_beneath
  from entry_sums
  join staged_queries using (query)
  left join dimension_sums on dimension_sums.billing_dimension is not distinct from entry_sums.billing_dimension
),
-- A UNION of DECIMAL(38,12) and DECIMAL(38,6) has six decimals in DuckDB: cast usage, or costs would be rounded.
-- The buckets of a group add up to the group; the record shows the group that is furthest off in its query.
groups_to_buckets as (
  select
    'hours_match_group.' || replace(staged_queries.name, ' ', '_') as check_code,
    compared_entries.measure,
    cast(null as varchar) as billing_dimension,
    count(*) as row_count,
    arg_max(compared_entries.ours, row(excess, ours, theirs, tolerance)) as ours,
    arg_max(compared_entries.theirs, row(excess, ours, theirs, tolerance)) as theirs,
    arg_max(compared_entries.tolerance, row(excess, ours, theirs, tolerance)) as tolerance
  from (
    select
      query,
      'cost' as measure,
      cost as ours,
      group_cost as theirs,
      tolerance_of(hours, cost_beneath, 1e-12, $cost_half_unit, roundings, $agreed) as tolerance,
      cast(abs(cost - group_cost) as double) - tolerance as excess
    from entries_beneath
    union all
    select
      query,
      'usage',
      cast(usage as decimal(38, 12)),
      cast(group_usage as decimal(38, 12)),
      tolerance_of(hours, usage_beneath, 1e-6, $usage_half_unit, roundings, null) as tolerance,
      cast(abs(usage - group_usage) as double) - tolerance
    from entries_beneath
  ) as compared_entries
  join staged_queries using (query)
  group by staged_queries.name, staged_queries.query, compared_entries.measure
),
-- The record shows the hour of a dimension that is furthest off; a stable choice among equals, so that a rebuild finds
-- it too.
hours_to_control as (
  select
    'hours_match_control' as check_code,
    measure,
    billing_dimension,
    sum(row_count) as row_count,
    arg_max(ours, row(excess, ours, theirs, tolerance)) as ours,
    arg_max(theirs, row(excess, ours, theirs, tolerance)) as theirs,
    arg_max(tolerance, row(excess, ours, theirs, tolerance)) as tolerance
  from (
    select
      'cost' as measure,
      billing_dimension,
      row_count,
      our_cost as ours,
      their_cost as theirs,
      cost_tolerance as tolerance,
      cast(abs(our_cost - their_cost) as double) - cost_tolerance as excess
    from compared_hours
    union all
    select
      'usage',
      billing_dimension,
      row_count,
      cast(our_usage as decimal(38, 12)),
      cast(their_usage as decimal(38, 12)),
      usage_tolerance,
      cast(abs(our_usage - their_usage) as double) - usage_tolerance
    from compared_hours
  ) as compared_hours
  group by measure, billing_dimension
),
-- All rows of the window add up to the control's total: this one amount proves the window in dollars.
rows_to_control as (
  select
    'rows_match_control' as check_code,
    'cost' as measure,
    cast(null as varchar) as billing_dimension,
    rows_sum.row_count,
    rows_sum.cost as ours,
    farther_of(rows_sum.cost, query_sums.lowest_total, query_sums.highest_total) as theirs,
    tolerance_of(rows_sum.row_count, rows_sum.cost_magnitude, 1e-12, $cost_half_unit, 1, $agreed) as tolerance
  from rows_sum
  cross join query_sums
  where query_sums.purpose = 'control'
),
-- An answer that lists one group twice counts it twice.
repeated_groups as (
  select
    'groups_are_unique.' || replace(name, ' ', '_') as check_code,
    'groups' as measure,
    cast(null as varchar) as billing_dimension,
    count(*) as row_count,
    count(*) as ours,
    count(distinct [workspace, resource_type, resource_name, resource_uuid, billing_dimension]) as theirs,
    0 as tolerance
  from staged_entries
  join staged_queries using (query)
  group by query, name
),
-- Rows from subtraction with negative usage would mean that the answers are from different moments.
negative_differences as (
  select
    'usage_is_not_negative' as check_code,
    'usage' as measure,
    billing_dimension,
    count(*) as row_count,
    cast(min(usage) as decimal(38, 12)) as ours,
    0 as theirs,
    0 as tolerance
  from (
    select incoming_series.billing_dimension, sum(incoming.usage) as usage
    from incoming
    join incoming_series using (series_id)
    where incoming_series.resource_uuid is null
      and incoming_series.billing_dimension in (select billing_dimension from differences)
    group by incoming.series_id, incoming_series.billing_dimension, incoming.bucket
  )
  where usage < 0
  group by billing_dimension
),
compared_all as (
  select check_code, measure, billing_dimension, row_count, ours, theirs, tolerance from pages_to_total
  union all
  select check_code, measure, billing_dimension, row_count, ours, theirs, tolerance from groups_to_buckets
  union all
  select check_code, measure, billing_dimension, row_count, ours, theirs, tolerance from hours_to_control
  union all
  select check_code, measure, billing_dimension, row_count, ours, theirs, tolerance from rows_to_control
  union all
  select check_code, measure, billing_dimension, row_count, ours, theirs, tolerance from repeated_groups
  union all
  select check_code, measure, billing_dimension, row_count, ours, theirs, tolerance from negative_differences
)
--! include: reconciliation_rows
