--! about: Adds what a query by name shows beyond the rows already staged, as rows without UUID.
--! about: $resource_type and $billing_dimension are the filters of the query; null if it had none.
insert into differences
with asked as (
  select
    case when $by_workspace then staged_entries.workspace end as workspace,
    coalesce($resource_type, staged_entries.resource_type) as resource_type,
    staged_entries.resource_name,
    staged_entries.billing_dimension,
    staged_points.bucket,
    staged_points.cost,
    staged_points.usage
  from staged_points
  join staged_entries using (entry)
  where staged_entries.query = $query
),
explained as (
  select
    case when $by_workspace then incoming_series.workspace end as workspace,
    incoming_series.resource_type,
    incoming_series.resource_name,
    incoming_series.billing_dimension,
    incoming.bucket,
    -incoming.cost as cost,
    -incoming.usage as usage
  from incoming
  join incoming_series using (series_id)
  where ($resource_type is null or incoming_series.resource_type = $resource_type)
    and ($billing_dimension is null or incoming_series.billing_dimension = $billing_dimension)
),
both_sides as (
  select workspace, resource_type, resource_name, billing_dimension, bucket, cost, usage from asked
  union all
  select workspace, resource_type, resource_name, billing_dimension, bucket, cost, usage from explained
),
-- Ignore what rounding explains. The rounding of totals does not count here: these are single amounts.
remaining as (
  select
    workspace,
    resource_type,
    resource_name,
    billing_dimension,
    bucket,
    case when abs(sum(cost)) > tolerance_of(count(*), sum(abs(cost)), 1e-12, 0, 0, null) then sum(cost) else 0 end as cost,
    case when abs(sum(usage)) > tolerance_of(count(*), sum(abs(usage)), 1e-6, 0, 0, null) then sum(usage) else 0 end as usage
  from both_sides
  group by workspace, resource_type, resource_name, billing_dimension, bucket
)
select $query, workspace, resource_type, resource_name, billing_dimension, bucket, cost, usage
from remaining
where cost <> 0 or usage <> 0;

insert into incoming
select
  series_id_of($account, workspace, resource_type, resource_name, null, billing_dimension),
  bucket,
  cost,
  usage
from differences
where query = $query;

insert into incoming_series
select distinct
  series_id_of($account, workspace, resource_type, resource_name, null, billing_dimension) as new_id,
  $account,
  workspace,
  resource_type,
  resource_name,
  null,
  billing_dimension
from differences
where query = $query
  and series_id_of($account, workspace, resource_type, resource_name, null, billing_dimension)
    not in (select series_id from incoming_series);
