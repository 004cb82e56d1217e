--! about: Cost and usage by hour, in the month that bills them: closed months as they were at the close, later changes
--! about: as corrections. Over all months the sums equal those of costs.
--! grain: account, billing_month, charge_class, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension
-- To read one month quickly, query its own hours (charge_class is null, with bounds on bucket_start as well as
-- billing_month, so that only those are scanned) and its corrections (charge_class is not null) separately, and combine
-- them with union all.
create or replace view costs_billed as
select
  series.account,
  hourly_costs_billed.billing_month, --: First day of the month that bills the row, UTC
  cast(null as varchar) as charge_class, --: Correction if the row corrects a closed month; null for the month's own hours
  hourly_costs_billed.bucket_start, --: Start of the hour, UTC; for a correction, the hour that is corrected
  hourly_costs_billed.bucket_start + interval 1 hour as bucket_end,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  series.unit,
  cast(hourly_costs_billed.cost as decimal(38, 12)) as cost, --: Cost in USD; for a correction, the change
  cast(hourly_costs_billed.usage as decimal(38, 6)) as usage, --: Usage, in the unit of column unit; for a correction, the change
  hourly_costs_billed.series_id
from hourly_costs_billed
join series using (series_id)
union all
select
  account,
  billing_month,
  'Correction',
  bucket_start,
  bucket_end,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  billing_dimension,
  unit,
  cost,
  usage,
  series_id
from corrections;
