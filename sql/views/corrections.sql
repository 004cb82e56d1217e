--! about: What closed months were corrected by after their close, in the month in which that is delivered.
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
  from ledger.late_changes
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
comment on view corrections is 'By how much hours of closed months changed after the close, one row a series, hour and month in which the change is delivered; closed months and their corrections together are what the platform tells';
comment on column corrections.account is 'Account that pays';
comment on column corrections.billing_month is 'Month in which the correction is delivered, its first day: the first one whose books were still open when the change was seen';
comment on column corrections.usage_month is 'Closed month in which the hour lies, its first day';
comment on column corrections.bucket_start is 'Start of the hour, UTC';
comment on column corrections.bucket_end is 'End of the hour, UTC, exclusive';
comment on column corrections.workspace is 'Workspace; null where the cost belongs to none or the token may not see it';
comment on column corrections.resource_type is 'Resource type as the platform names it';
comment on column corrections.resource_name is 'Resource name';
comment on column corrections.resource_uuid is 'Resource UUID or instance id; null where the platform gives none';
comment on column corrections.billing_dimension is 'What is billed';
comment on column corrections.unit is 'Unit of usage; null where it is not known';
comment on column corrections.cost is 'USD more than before, less where it is negative';
comment on column corrections.usage is 'Usage more than before, in the unit';
comment on column corrections.series_id is 'Number of the series, as in the view series';
