--! about: Our rows of each hour and billing dimension (and workspace, if the control query groups by it) next to the
--! about: control's. Half units are half of the last decimal of the platform's totals.
create or replace temp table compared_hours as
with parts as (
  select
    series_id,
    billing_dimension,
    case when $by_workspace then workspace end as workspace,
    dense_rank() over (order by billing_dimension, case when $by_workspace then workspace end) as part
  from incoming_series
),
-- Numbers instead of names: this reads every row.
part_hours as (
  select
    parts.part,
    incoming.bucket,
    sum(incoming.cost) as cost,
    sum(incoming.usage) as usage,
    sum(abs(incoming.cost)) as cost_magnitude,
    sum(abs(incoming.usage)) as usage_magnitude,
    count(*) as row_count
  from incoming
  join parts using (series_id)
  group by parts.part, incoming.bucket
),
ours as (
  select named.billing_dimension, named.workspace, bucket, cost, usage, cost_magnitude, usage_magnitude, row_count
  from part_hours
  join (select distinct part, billing_dimension, workspace from parts) as named using (part)
),
theirs as (
  select
    staged_entries.billing_dimension,
    case when $by_workspace then staged_entries.workspace end as workspace,
    staged_points.bucket,
    sum(staged_points.cost) as cost,
    sum(staged_points.usage) as usage
  from staged_points
  join staged_entries using (entry)
  join staged_queries using (query)
  where staged_queries.purpose = 'control'
  group by all
),
-- Each side is summed first, which leaves few rows to join.
sides as (
  select
    billing_dimension, workspace, bucket, cost as our_cost, usage as our_usage,
    0 as their_cost, 0 as their_usage, cost_magnitude, usage_magnitude, row_count
  from ours
  union all
  select billing_dimension, workspace, bucket, 0, 0, cost, usage, 0, 0, 0
  from theirs
)
select
  billing_dimension,
  workspace,
  bucket,
  sum(our_cost) as our_cost,
  sum(their_cost) as their_cost,
  sum(our_usage) as our_usage,
  sum(their_usage) as their_usage,
  tolerance_of(sum(row_count), sum(cost_magnitude), 1e-12, $cost_half_unit, 1, $agreed) as cost_tolerance,
  tolerance_of(sum(row_count), sum(usage_magnitude), 1e-6, $usage_half_unit, 1, null) as usage_tolerance,
  sum(cost_magnitude) as cost_magnitude,
  sum(usage_magnitude) as usage_magnitude,
  sum(row_count) as row_count
from sides
group by billing_dimension, workspace, bucket;
