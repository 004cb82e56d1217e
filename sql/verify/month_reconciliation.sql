--! about: Comparisons of one month from an answer about several months, for the record: each billing dimension, and all
--! about: together, even if nothing was billed.
create or replace temp table window_reconciliation as
with of_month as (
  select billing_dimension, row_count, our_cost, their_cost, cost_tolerance, our_usage, their_usage, usage_tolerance
  from compared_past
  where query = $query and bucket_start = cast($month_start as timestamp)
),
compared_all as (
  select
    'month_dimension_matches_platform' as check_code, 'cost' as measure, billing_dimension, row_count,
    our_cost as ours, their_cost as theirs, cost_tolerance as tolerance
  from of_month
  union all
  select
    'month_dimension_matches_platform', 'usage', billing_dimension, row_count,
    cast(our_usage as decimal(38, 12)), cast(their_usage as decimal(38, 12)), usage_tolerance
  from of_month
  union all
  -- The total is a sum of totals that the platform rounded separately.
  select
    'month_matches_platform', 'cost', null, coalesce(sum(row_count), 0), coalesce(sum(our_cost), 0),
    coalesce(sum(their_cost), 0), coalesce(cast($agreed as double), sum(cost_tolerance), 0)
  from of_month
)
--! include: reconciliation_rows
