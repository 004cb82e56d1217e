--! about: Cost and usage by hour, in the month that bills them: a closed month stays as it was at the close, and later
--! about: changes are corrections in a later month. To read one month quickly, query its own hours (charge_class is
--! about: null, with bounds on bucket_start as well as billing_month, so that only those are scanned) and its
--! about: corrections (charge_class is not null) separately, and combine them with union all.
--! grain: account, billing_month, charge_class, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension
create or replace view costs_billed as
select
  series.account,
  hourly_costs_billed.billing_month,
  cast(null as varchar) as charge_class,
  hourly_costs_billed.bucket_start,
  hourly_costs_billed.bucket_start + interval 1 hour as bucket_end,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  series.unit,
  cast(hourly_costs_billed.cost as decimal(38, 12)) as cost,
  cast(hourly_costs_billed.usage as decimal(38, 6)) as usage,
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
comment on view costs_billed is 'Cost and usage by hour, in the month that bills them: closed months as they were at the close, later changes as corrections. Over all months the sums equal those of costs';
comment on column costs_billed.account is 'Billing account';
comment on column costs_billed.billing_month is 'First day of the month that bills the row, UTC';
comment on column costs_billed.charge_class is 'Correction if the row corrects a closed month; null for the month''s own hours';
comment on column costs_billed.bucket_start is 'Start of the hour, UTC; for a correction, the hour that is corrected';
comment on column costs_billed.bucket_end is 'End of the hour, UTC, exclusive';
comment on column costs_billed.workspace is 'Workspace; null if the cost belongs to none, or if the token has no access to workspaces';
comment on column costs_billed.resource_type is 'Resource type, as the platform names it';
comment on column costs_billed.resource_name is 'Resource name';
comment on column costs_billed.resource_uuid is 'Resource UUID or instance ID; null if the platform reports none';
comment on column costs_billed.billing_dimension is 'Billing dimension: what is metered and priced';
comment on column costs_billed.unit is 'Unit of usage; null if unknown';
comment on column costs_billed.cost is 'Cost in USD; for a correction, the change';
comment on column costs_billed.usage is 'Usage, in the unit of column unit; for a correction, the change';
comment on column costs_billed.series_id is 'Number of the series; view series has its names';
