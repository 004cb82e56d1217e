--! about: Cost and usage by month, one row per series and month.
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
  months.usage_month, --: First day of the month, UTC
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
