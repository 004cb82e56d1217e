--! about: Compares the books with the answer to one query about the past, by bucket ($unit: day or month) and group:
--! about: workspace, type, name or UUID as queried, filtered by a billing dimension or name if the query was.
delete from compared_past where query = $query;

insert into compared_past
-- Each group has a number: joining names to every hour would take longer than everything else.
with numbered as materialized (
  select
    series_id,
    billing_dimension,
    case when $by_workspace then workspace end as workspace,
    case when $by_type then resource_type end as resource_type,
    case when $by_name then resource_name end as resource_name,
    case when $by_uuid then resource_uuid end as resource_uuid,
    cast(
      dense_rank() over (
        order by
          billing_dimension,
          case when $by_workspace then workspace end,
          case when $by_type then resource_type end,
          case when $by_name then resource_name end,
          case when $by_uuid then resource_uuid end
      ) as integer
    ) as group_number
  from ledger.series
  where account = $account
    and ($billing_dimension is null or billing_dimension = $billing_dimension)
    and ($resource_name is null or resource_name = $resource_name)
),
groups as (
  select distinct group_number, billing_dimension, workspace, resource_type, resource_name, resource_uuid
  from numbered
),
-- Days as dates: truncating each instant takes longer than adding it up.
of_groups as (
  select
    numbered.group_number,
    case
      when $unit = 'month' then cast(date_trunc('month', cast(hourly_costs.bucket_start as date)) as date)
      else cast(hourly_costs.bucket_start as date)
    end as bucket_date,
    count(*) as row_count,
    sum(hourly_costs.cost) as cost,
    sum(abs(hourly_costs.cost)) as cost_magnitude,
    sum(hourly_costs.usage) as usage,
    sum(abs(hourly_costs.usage)) as usage_magnitude
  from ledger.hourly_costs as hourly_costs
  join numbered using (series_id)
  where hourly_costs.bucket_start >= cast($window_start as timestamp)
    and hourly_costs.bucket_start < cast($window_end as timestamp)
  group by all
),
ours as (
  select
    groups.billing_dimension,
    groups.workspace,
    groups.resource_type,
    groups.resource_name,
    groups.resource_uuid,
    greatest(cast(of_groups.bucket_date as timestamp), cast($window_start as timestamp)) as bucket_start,
    of_groups.row_count,
    of_groups.cost,
    of_groups.cost_magnitude,
    of_groups.usage,
    of_groups.usage_magnitude
  from of_groups
  join groups using (group_number)
),
theirs as (
  select
    staged_entries.billing_dimension,
    case when $by_workspace then staged_entries.workspace end as workspace,
    case when $by_type then staged_entries.resource_type end as resource_type,
    case when $by_name then staged_entries.resource_name end as resource_name,
    case when $by_uuid then staged_entries.resource_uuid end as resource_uuid,
    asked_buckets.bucket_start,
    sum(staged_points.cost) as cost,
    sum(staged_points.usage) as usage
  from staged_points
  join staged_entries using (entry)
  join asked_buckets on asked_buckets.query = staged_entries.query and asked_buckets.bucket = staged_points.bucket
  where staged_entries.query = $query
  group by all
),
-- If the answer shows no row without UUID for a billing dimension, those in the books are omitted by the platform, not
-- missing.
dimensions_with_rows_without_uuid as (
  select distinct billing_dimension
  from staged_entries
  where query = $query and resource_uuid is null
),
both_sides as (
  select
    billing_dimension, workspace, resource_type, resource_name, resource_uuid, bucket_start, row_count,
    cost as our_cost, cost_magnitude, usage as our_usage, usage_magnitude, 0 as their_cost, 0 as their_usage
  from ours
  union all
  select
    billing_dimension, workspace, resource_type, resource_name, resource_uuid, bucket_start, 0,
    0, 0, 0, 0, cost, usage
  from theirs
)
select
  $query,
  billing_dimension,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  bucket_start,
  $by_uuid
    and resource_uuid is null
    and coalesce(
      billing_dimension not in (select billing_dimension from dimensions_with_rows_without_uuid), true
    ) as is_left_out,
  sum(row_count),
  sum(cost_magnitude),
  sum(usage_magnitude),
  sum(our_cost),
  sum(their_cost),
  sum(our_usage),
  sum(their_usage),
  tolerance_of(sum(row_count), sum(cost_magnitude), 1e-12, $cost_half_unit, 1, $agreed),
  tolerance_of(sum(row_count), sum(usage_magnitude), 1e-6, $usage_half_unit, 1, null)
from both_sides
group by billing_dimension, workspace, resource_type, resource_name, resource_uuid, bucket_start;
