--! about: Cost and usage by hour.
--! grain: account, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension
create or replace view costs as
select
  account,
  bucket_start,
  bucket_end,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  billing_dimension,
  unit,
  cost,
  usage
from costs_v1;
comment on view costs is 'Cost and usage by hour, one row per series and hour; hours with neither have no row';
comment on column costs.account is 'Billing account';
comment on column costs.bucket_start is 'Start of the hour, UTC';
comment on column costs.bucket_end is 'End of the hour, UTC, exclusive';
comment on column costs.workspace is 'Workspace; null if the cost belongs to none, or if the token has no access to workspaces';
comment on column costs.resource_type is 'Resource type, as the platform names it';
comment on column costs.resource_name is 'Resource name';
comment on column costs.resource_uuid is 'Resource UUID or instance ID; null if the platform reports none';
comment on column costs.billing_dimension is 'Billing dimension: what is metered and priced';
comment on column costs.unit is 'Unit of usage; null if unknown';
comment on column costs.cost is 'Cost in USD';
comment on column costs.usage is 'Usage, in the unit of column unit';
