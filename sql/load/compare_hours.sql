--! about: The rows of each hour and billing dimension (and workspace, where the control was asked by it) beside the
--! about: control's; the half units are those of the decimals that the platform's own totals carry.
create or replace temp table compared_hours as
with sides as (
  select
    incoming_series.billing_dimension,
    case when $by_workspace then incoming_series.workspace end as workspace,
    incoming.bucket,
    incoming.cost as our_cost,
    incoming.usage as our_usage,
    cast(0 as decimal(18, 12)) as their_cost,
    cast(0 as decimal(18, 6)) as their_usage,
    1 as is_ours
  from incoming
  join incoming_series using (series_id)
  union all
  select
    staged_entries.billing_dimension,
    case when $by_workspace then staged_entries.workspace end,
    staged_points.bucket,
    0,
    0,
    staged_points.cost,
    staged_points.usage,
    0
  from staged_points
  join staged_entries using (entry)
  join staged_queries using (query)
  where staged_queries.purpose = 'control'
)
select
  billing_dimension,
  workspace,
  bucket,
  sum(our_cost) as our_cost,
  sum(their_cost) as their_cost,
  sum(our_usage) as our_usage,
  sum(their_usage) as their_usage,
  tolerance_of(sum(is_ours), sum(abs(our_cost)), 1e-12, $cost_half_unit, $agreed) as cost_tolerance,
  tolerance_of(sum(is_ours), sum(abs(our_usage)), 1e-6, $usage_half_unit, null) as usage_tolerance,
  sum(is_ours) as amounts
from sides
group by billing_dimension, workspace, bucket;
