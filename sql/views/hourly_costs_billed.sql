--! about: The hours of each month as they are billed in it, by the number of their series: those of a closed month as they
--! about: were at its close. Corrections stand in the view corrections.
--! grain: series_id, bucket_start
create or replace view hourly_costs_billed as
select
  series_id,
  cast(date_trunc('month', bucket_start) as date) as billing_month,
  bucket_start,
  cost,
  usage
from ledger.hourly_costs
anti join ledger.hourly_costs_at_close as at_close using (series_id, bucket_start)
union all
select series_id, usage_month, bucket_start, cost, usage
from ledger.hourly_costs_at_close
where cost is not null;
comment on view hourly_costs_billed is 'Cost and usage by hour in the month in which they were incurred, a closed month as it was closed, with the number of the series in the place of its names';
comment on column hourly_costs_billed.series_id is 'Number of the series, whose names stand in the view series';
comment on column hourly_costs_billed.billing_month is 'Month in which the hour is billed, its first day';
comment on column hourly_costs_billed.bucket_start is 'Start of the hour, UTC';
comment on column hourly_costs_billed.cost is 'USD';
comment on column hourly_costs_billed.usage is 'Usage in the unit of the series';
