--! about: Our rows of each hour and billing dimension (and workspace, if the control query groups by it) next to the
--! about: control's. Half units are half of the last decimal of the platform's totals.
create or replace temp table compared_hours as
with names as (
  select distinct billing_dimension, case when $by_workspace then workspace end as workspace
  from incoming_series
  union
  select distinct billing_dimension, case when $by_workspace then workspace end
  from staged_entries
  where query in (select query from staged_queries where purpose = 'control')
),
-- Numbers instead of names: every row is summed by them.
parts as (
  select billing_dimension, workspace, row_number() over () as part
  from names
),
our_parts as (
  select incoming_series.series_id, parts.part
  from incoming_series
  join parts
    on parts.billing_dimension is not distinct from incoming_series.billing_dimension
    and parts.workspace is not distinct from case when $by_workspace then incoming_series.workspace end
),
their_parts as (
  select staged_entries.entry, parts.part
  from staged_entries
  join parts
    on parts.billing_dimension is not distinct from staged_entries.billing_dimension
    and parts.workspace is not distinct from case when $by_workspace then staged_entries.workspace end
  where staged_entries.query in (select query from staged_queries where purpose = 'control')
),
ours as (
  select
    our_parts.part,
    incoming.bucket,
    sum(incoming.cost) as cost,
    sum(incoming.usage) as usage,
    sum(abs(incoming.cost)) as cost_magnitude,
    sum(abs(incoming.usage)) as usage_magnitude,
    count(*) as row_count
  from incoming
  join our_parts using (series_id)
  group by our_parts.part, incoming.bucket
),
theirs as (
  select their_parts.part, staged_points.bucket, sum(staged_points.cost) as cost, sum(staged_points.usage) as usage
  from staged_points
  join their_parts using (entry)
  group by their_parts.part, staged_points.bucket
),
-- Each side is summed first, which leaves few rows to join.
sides as (
  select
    part,
    bucket,
    coalesce(ours.cost, 0) as our_cost,
    coalesce(theirs.cost, 0) as their_cost,
    coalesce(ours.usage, 0) as our_usage,
    coalesce(theirs.usage, 0) as their_usage,
    coalesce(cost_magnitude, 0) as cost_magnitude,
    coalesce(usage_magnitude, 0) as usage_magnitude,
    coalesce(row_count, 0) as row_count
  from ours
  full join theirs using (part, bucket)
)
select
  parts.billing_dimension,
  parts.workspace,
  bucket,
  our_cost,
  their_cost,
  our_usage,
  their_usage,
  tolerance_of(row_count, cost_magnitude, 1e-12, $cost_half_unit, 1, $agreed) as cost_tolerance,
  tolerance_of(row_count, usage_magnitude, 1e-6, $usage_half_unit, 1, null) as usage_tolerance,
  cost_magnitude,
  usage_magnitude,
  row_count
from sides
join parts using (part);
