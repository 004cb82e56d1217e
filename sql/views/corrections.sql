--! about: Changes to closed months after their close, in the month that bills them.
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
  netted.billing_month,
  netted.usage_month,
  netted.bucket_start,
  netted.bucket_start + interval 1 hour as bucket_end,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  series.unit,
  netted.cost,
  netted.usage,
  netted.series_id
from netted
join series using (series_id)
where netted.cost <> 0 or netted.usage <> 0;
comment on view corrections is 'Changes to hours of closed months after their close, one row per series, hour and billing month. Closed months plus their corrections equal the platform''s current numbers';
comment on column corrections.account is 'Billing account';
comment on column corrections.billing_month is 'First day of the month that bills the correction, UTC: the first month that was still open when the change was seen';
comment on column corrections.usage_month is 'First day of the closed month that contains the hour, UTC';
comment on column corrections.bucket_start is 'Start of the hour, UTC';
comment on column corrections.bucket_end is 'End of the hour, UTC, exclusive';
comment on column corrections.workspace is 'Workspace; null if the cost belongs to none, or if the token has no access to workspaces';
comment on column corrections.resource_type is 'Resource type, as the platform names it';
comment on column corrections.resource_name is 'Resource name';
comment on column corrections.resource_uuid is 'Resource UUID or instance ID; null if the platform reports none';
comment on column corrections.billing_dimension is 'Billing dimension: what is metered and priced';
comment on column corrections.unit is 'Unit of usage; null if unknown';
comment on column corrections.cost is 'Change in cost, USD; negative for a credit';
comment on column corrections.usage is 'Change in usage, in the unit of column unit';
comment on column corrections.series_id is 'Number of the series; view series has its names';
