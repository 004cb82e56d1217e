--! about: Cost and usage by hour in the month in which they are billed: a closed month stays as it was closed, and what
--! about: changed in it later is a correction in a later month. Who wants one month of many years asks for its own hours
--! about: (charge_class is null, with bounds of bucket_start beside billing_month: only those are read then) and for its
--! about: corrections (charge_class is not null) apart, and puts one below the other.
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
comment on view costs_billed is 'Cost and usage by hour in the month in which they are billed: closed months as they were closed, and what changed in them later as corrections; over all months the same sums as costs';
comment on column costs_billed.account is 'Account that pays';
comment on column costs_billed.billing_month is 'Month in which the row is billed, its first day';
comment on column costs_billed.charge_class is 'Correction where a closed month is corrected, null where the month''s own hours are meant';
comment on column costs_billed.bucket_start is 'Start of the hour, UTC: of a correction, when it was incurred';
comment on column costs_billed.bucket_end is 'End of the hour, UTC, exclusive';
comment on column costs_billed.workspace is 'Workspace; null where the cost belongs to none or the token may not see it';
comment on column costs_billed.resource_type is 'Resource type as the platform names it';
comment on column costs_billed.resource_name is 'Resource name';
comment on column costs_billed.resource_uuid is 'Resource UUID or instance id; null where the platform gives none';
comment on column costs_billed.billing_dimension is 'What is billed';
comment on column costs_billed.unit is 'Unit of usage; null where it is not known';
comment on column costs_billed.cost is 'USD; of a correction the difference';
comment on column costs_billed.usage is 'Usage in the unit; of a correction the difference';
comment on column costs_billed.series_id is 'Number of the series, as in the view series';
