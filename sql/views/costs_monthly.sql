--! about: Cost and usage by month.
--! grain: account, usage_month, workspace, resource_type, resource_name, resource_uuid, billing_dimension
create or replace view costs_monthly as
-- Added up by number before the names stand beside it: the names are long, and a series has them once.
with months as (
  select series_id, cast(date_trunc('month', bucket_start) as date) as usage_month, sum(cost) as cost, sum(usage) as usage
  from ledger.hourly_costs
  group by series_id, usage_month
)
select
  series.account,
  months.usage_month,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  series.unit,
  months.cost,
  months.usage
from months
join series using (series_id);
comment on view costs_monthly is 'Cost and usage by month, one row a series and month';
comment on column costs_monthly.account is 'Account that pays';
comment on column costs_monthly.usage_month is 'First day of the month, UTC';
comment on column costs_monthly.workspace is 'Workspace; null where the cost belongs to none or the token may not see it';
comment on column costs_monthly.resource_type is 'Resource type as the platform names it';
comment on column costs_monthly.resource_name is 'Resource name';
comment on column costs_monthly.resource_uuid is 'Resource UUID or instance id; null where the platform gives none';
comment on column costs_monthly.billing_dimension is 'What is billed';
comment on column costs_monthly.unit is 'Unit of usage; null where it is not known';
comment on column costs_monthly.cost is 'USD';
comment on column costs_monthly.usage is 'Usage in the unit';
