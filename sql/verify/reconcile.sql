--! about: Comparisons within an answer, for the record: its pages against its total (which may include rows that the
--! about: pages omit), and for each billing dimension the group and the bucket that are furthest off. $bucket_hours:
--! about: the maximum number of hours in a day or month.
create or replace temp table window_reconciliation as
with pages_sum as (
  select
    staged_queries.lowest_total,
    staged_queries.highest_total,
    count(staged_entries.entry) as row_count,
    coalesce(sum(staged_entries.cost), 0) as cost
  from staged_queries
  left join staged_entries using (query)
  where staged_queries.query = $query
  group by staged_queries.lowest_total, staged_queries.highest_total
),
-- The hours that the platform summed for its answer. If books and platform agree, they are the hours in the books. If
-- not, the platform may have others: at most every hour of every series.
hours_beneath as (
  select
    billing_dimension,
    sum(
      case
        when abs(our_cost - their_cost) <= cost_tolerance and abs(our_usage - their_usage) <= usage_tolerance then row_count
        else greatest(row_count, $bucket_hours * (select count(*) from ledger.series where account = $account))
      end
    ) as hours,
    sum(greatest(cost_magnitude, abs(their_cost))) as cost_magnitude,
    sum(greatest(usage_magnitude, abs(their_usage))) as usage_magnitude
  from compared_past
  where query = $query
  group by billing_dimension
),
all_beneath as (
  select coalesce(sum(hours), 0) as hours, coalesce(sum(cost_magnitude), 0) as cost_magnitude
  from hours_beneath
),
left_out as (
  select coalesce(sum(our_cost), 0) as cost, count(*) as row_count
  from compared_past
  where query = $query and is_left_out
),
pages as (
  select
    pages_sum.row_count + left_out.row_count as row_count,
    left_out.row_count > 0
      and abs(pages_sum.cost + left_out.cost - pages_sum.highest_total)
        < abs(pages_sum.cost - pages_sum.highest_total) as with_left_out,
    case when with_left_out then pages_sum.cost + left_out.cost else pages_sum.cost end as added_up,
    farther_of(added_up, pages_sum.lowest_total, pages_sum.highest_total) as total_cost,
    tolerance_of(
      all_beneath.hours, all_beneath.cost_magnitude, 1e-12, $cost_half_unit, greatest(pages_sum.row_count, 1), $agreed
    ) as tolerance
  from pages_sum
  cross join left_out
  cross join all_beneath
),
-- A group that its buckets do not add up to contradicts itself; the record shows the one that is furthest off.
groups as (
  select
    measure,
    count(*) as row_count,
    arg_max(ours, (abs(ours - theirs) - tolerance, entry)) as ours,
    arg_max(theirs, (abs(ours - theirs) - tolerance, entry)) as theirs,
    arg_max(tolerance, (abs(ours - theirs) - tolerance, entry)) as tolerance
  from (
    select
      staged_entries.entry,
      'cost' as measure,
      coalesce(sum(staged_points.cost), 0) as ours,
      any_value(staged_entries.cost) as theirs,
      tolerance_of(
        coalesce(any_value(hours_beneath.hours), 0), coalesce(any_value(hours_beneath.cost_magnitude), 0),
        1e-12, $cost_half_unit, greatest(count(staged_points.entry), 1), $agreed
      ) as tolerance
    from staged_entries
    left join staged_points using (entry)
    left join hours_beneath on hours_beneath.billing_dimension is not distinct from staged_entries.billing_dimension
    where staged_entries.query = $query
    group by staged_entries.entry
    union all
    select
      staged_entries.entry,
      'usage',
      cast(coalesce(sum(staged_points.usage), 0) as decimal(38, 12)),
      cast(any_value(staged_entries.usage) as decimal(38, 12)),
      tolerance_of(
        coalesce(any_value(hours_beneath.hours), 0), coalesce(any_value(hours_beneath.usage_magnitude), 0),
        1e-6, $usage_half_unit, greatest(count(staged_points.entry), 1), null
      )
    from staged_entries
    left join staged_points using (entry)
    left join hours_beneath on hours_beneath.billing_dimension is not distinct from staged_entries.billing_dimension
    where staged_entries.query = $query
    group by staged_entries.entry
  )
  group by measure
),
by_measure as (
  select
    billing_dimension, row_count, 'cost' as measure, our_cost as ours, their_cost as theirs, cost_tolerance as tolerance,
    cast(abs(our_cost - their_cost) as double) - cost_tolerance as excess
  from compared_past
  where query = $query and not is_left_out
  union all
  select
    billing_dimension, row_count, 'usage', cast(our_usage as decimal(38, 12)), cast(their_usage as decimal(38, 12)),
    usage_tolerance, cast(abs(our_usage - their_usage) as double) - usage_tolerance
  from compared_past
  where query = $query and not is_left_out
),
compared_all as (
  select
    'pages_match_total.' || $purpose || case when with_left_out then '.with_left_out' else '' end as check_code,
    'cost' as measure,
    $billing_dimension as billing_dimension,
    row_count,
    added_up as ours,
    total_cost as theirs,
    tolerance
  from pages
  union all
  select
    'buckets_match_group.' || $purpose,
    measure,
    $billing_dimension,
    row_count,
    ours,
    theirs,
    tolerance
  from groups
  union all
  select
    $check_code,
    measure,
    billing_dimension,
    sum(row_count),
    arg_max(ours, excess),
    arg_max(theirs, excess),
    arg_max(tolerance, excess)
  from by_measure
  group by measure, billing_dimension
)
--! include: reconciliation_rows
