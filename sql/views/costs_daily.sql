--! about: Cost and usage by day, one row per series and day.
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
  days.usage_date, --: Day, UTC
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
