--! about: Cost and usage by month.
--! grain: account, usage_month, workspace, resource_type, resource_name, resource_uuid, billing_dimension
create or replace view costs_monthly as
-- Sum by series number first and join names last: names are long, and each series has one set of them.
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
comment on view costs_monthly is 'Cost and usage by month, one row per series and month';
comment on column costs_monthly.account is 'Billing account';
comment on column costs_monthly.usage_month is 'First day of the month, UTC';
comment on column costs_monthly.workspace is 'Workspace; null if the cost belongs to none, or if the token has no access to workspaces';
comment on column costs_monthly.resource_type is 'Resource type, as the platform names it';
comment on column costs_monthly.resource_name is 'Resource name';
comment on column costs_monthly.resource_uuid is 'Resource UUID or instance ID; null if the platform reports none';
comment on column costs_monthly.billing_dimension is 'Billing dimension: what is metered and priced';
comment on column costs_monthly.unit is 'Unit of usage; null if unknown';
comment on column costs_monthly.cost is 'Cost in USD';
comment on column costs_monthly.usage is 'Usage, in the unit of column unit';
