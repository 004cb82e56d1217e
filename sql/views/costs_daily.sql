--! about: Cost and usage by day.
--! grain: account, usage_date, workspace, resource_type, resource_name, resource_uuid, billing_dimension
create or replace view costs_daily as
-- Added up by number before the names stand beside it: the names are long, and a series has them once.
with days as (
  select series_id, cast(bucket_start as date) as usage_date, sum(cost) as cost, sum(usage) as usage
  from ledger.hourly_costs
  group by series_id, usage_date
)
select
  series.account,
  days.usage_date,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  series.unit,
  days.cost,
  days.usage
from days
join series using (series_id);
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
