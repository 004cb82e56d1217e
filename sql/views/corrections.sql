--! about: Changes to hours of closed months after their close, one row per series, hour and billing month. Closed
--! about: months plus their corrections equal the platform's current numbers.
--! grain: account, billing_month, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension
create or replace view corrections as
with netted as (
  select
    series_id,
    bucket_start,
    usage_month,
    billing_month,
    cast(sum(coalesce(new_cost, 0) - coalesce(old_cost, 0)) as decimal(38, 12)) as cost,
    cast(sum(coalesce(new_usage, 0) - coalesce(old_usage, 0)) as decimal(38, 6)) as usage
  from ledger.changes_after_close
  group by series_id, bucket_start, usage_month, billing_month
)
select
  series.account,
  netted.billing_month, --: First day of the month that bills the correction, UTC: the first month that was still open when the change was seen
  netted.usage_month, --: First day of the closed month that contains the hour, UTC
  netted.bucket_start,
  netted.bucket_start + interval 1 hour as bucket_end,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  series.unit,
  netted.cost, --: Change in cost, USD; negative for a credit
  netted.usage, --: Change in usage, in the unit of column unit
  netted.series_id
from netted
join series using (series_id)
where netted.cost <> 0 or netted.usage <> 0;
