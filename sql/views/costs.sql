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
comment on view costs is 'Cost and usage by hour, one row a series and hour; hours without both are left out';
comment on column costs.account is 'Account that pays';
comment on column costs.bucket_start is 'Start of the hour, UTC';
comment on column costs.bucket_end is 'End of the hour, UTC, exclusive';
comment on column costs.workspace is 'Workspace; null where the cost belongs to none or the token may not see it';
comment on column costs.resource_type is 'Resource type as the platform names it';
comment on column costs.resource_name is 'Resource name';
comment on column costs.resource_uuid is 'Resource UUID or instance id; null where the platform gives none';
comment on column costs.billing_dimension is 'What is billed';
comment on column costs.unit is 'Unit of usage; null where it is not known';
comment on column costs.cost is 'USD';
comment on column costs.usage is 'Usage in the unit';
