--! about: Cost and usage by day.
--! grain: account, usage_date, workspace, resource_type, resource_name, resource_uuid, billing_dimension
create or replace view costs_daily as
-- Sum by series number first and join names last: names are long, and each series has one set of them.
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
comment on view costs_daily is 'Cost and usage by day, one row per series and day';
comment on column costs_daily.account is 'Billing account';
comment on column costs_daily.usage_date is 'Day, UTC';
comment on column costs_daily.workspace is 'Workspace; null if the cost belongs to none, or if the token has no access to workspaces';
comment on column costs_daily.resource_type is 'Resource type, as the platform names it';
comment on column costs_daily.resource_name is 'Resource name';
comment on column costs_daily.resource_uuid is 'Resource UUID or instance ID; null if the platform reports none';
comment on column costs_daily.billing_dimension is 'Billing dimension: what is metered and priced';
comment on column costs_daily.unit is 'Unit of usage; null if unknown';
comment on column costs_daily.cost is 'Cost in USD';
comment on column costs_daily.usage is 'Usage, in the unit of column unit';
