--! about: Cost and usage by hour, frozen form 1: its columns never change.
--! grain: account, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension
create or replace view costs_v1 as
select
  series.account,
  hourly_costs.bucket_start,
  hourly_costs.bucket_start + interval 1 hour as bucket_end,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  series.unit,
  hourly_costs.cost,
  hourly_costs.usage
from ledger.hourly_costs as hourly_costs
join series using (series_id);
comment on view costs_v1 is 'Cost and usage by hour, as in costs; the columns of this view never change';
comment on column costs_v1.account is 'Billing account';
comment on column costs_v1.bucket_start is 'Start of the hour, UTC';
comment on column costs_v1.bucket_end is 'End of the hour, UTC, exclusive';
comment on column costs_v1.workspace is 'Workspace; null if the cost belongs to none, or if the token has no access to workspaces';
comment on column costs_v1.resource_type is 'Resource type, as the platform names it';
comment on column costs_v1.resource_name is 'Resource name';
comment on column costs_v1.resource_uuid is 'Resource UUID or instance ID; null if the platform reports none';
comment on column costs_v1.billing_dimension is 'Billing dimension: what is metered and priced';
comment on column costs_v1.unit is 'Unit of usage; null if unknown';
comment on column costs_v1.cost is 'Cost in USD';
comment on column costs_v1.usage is 'Usage, in the unit of column unit';
