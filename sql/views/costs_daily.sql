--! about: Cost and usage by day.
--! grain: account, usage_date, workspace, resource_type, resource_name, resource_uuid, billing_dimension
create or replace view costs_daily as
select
  account,
  cast(bucket_start as date) as usage_date,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  billing_dimension,
  unit,
  sum(cost) as cost,
  sum(usage) as usage
from costs_v1
group by
  account,
  usage_date,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  billing_dimension,
  unit;
comment on view costs_daily is 'Cost and usage by day, one row a series and day';
comment on column costs_daily.account is 'Account that pays';
comment on column costs_daily.usage_date is 'Day, UTC';
comment on column costs_daily.workspace is 'Workspace; null where the cost belongs to none or the token may not see it';
comment on column costs_daily.resource_type is 'Resource type as the platform names it';
comment on column costs_daily.resource_name is 'Resource name';
comment on column costs_daily.resource_uuid is 'Resource UUID or instance id; null where the platform gives none';
comment on column costs_daily.billing_dimension is 'What is billed';
comment on column costs_daily.unit is 'Unit of usage; null where it is not known';
comment on column costs_daily.cost is 'USD';
comment on column costs_daily.usage is 'Usage in the unit';
