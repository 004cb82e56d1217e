--! about: The billing dimensions in which the rows so far and the control differ, in cost or usage, in any hour.
with control as (
  select
    staged_entries.billing_dimension,
    case when $by_workspace then staged_entries.workspace end as workspace,
    staged_points.bucket,
    staged_points.cost,
    staged_points.usage
  from staged_points
  join staged_entries using (entry)
  where staged_entries.query in (select query from staged_queries where purpose = 'control')
),
both_sides as (
  select
    incoming_series.billing_dimension,
    case when $by_workspace then incoming_series.workspace end as workspace,
    incoming.bucket,
    incoming.cost,
    incoming.usage
  from incoming
  join incoming_series using (series_id)
  union all
  select billing_dimension, workspace, bucket, -cost, -usage
  from control
),
hours as (
  select
    billing_dimension,
    sum(cost) as cost,
    sum(usage) as usage,
    tolerance_of(count(*), sum(abs(cost)), 1e-12, $cost_half_unit) as cost_tolerance,
    tolerance_of(count(*), sum(abs(usage)), 1e-6, $usage_half_unit) as usage_tolerance
  from both_sides
  group by billing_dimension, workspace, bucket
)
select distinct billing_dimension
from hours
where billing_dimension is not null
  and (abs(cost) > cost_tolerance or abs(usage) > usage_tolerance)
order by billing_dimension;
