--! about: The hours of each month as they are billed in it, by the number of their series: those of a closed month as they
--! about: were at its close. Corrections stand in the view corrections.
--! grain: series_id, bucket_start
create or replace view amounts_billed as
with
-- The hours of closed months that changed, as they were at the close: what the first change after it put something in
-- the place of.
at_close as (
  select
    series_id,
    bucket_start,
    usage_month,
    arg_min_null(old_cost, load_number) as cost,
    arg_min_null(old_usage, load_number) as usage
  from ledger.late_changes
  group by series_id, bucket_start, usage_month
)
select
  series_id,
  cast(date_trunc('month', bucket_start) as date) as billing_month,
  bucket_start,
  cost,
  usage
from ledger.amounts
anti join at_close using (series_id, bucket_start)
union all
select series_id, usage_month, bucket_start, cost, usage
from at_close
where cost is not null;
comment on view amounts_billed is 'Cost and usage by hour in the month in which they were incurred, a closed month as it was closed, with the number of the series in the place of its names';
comment on column amounts_billed.series_id is 'Number of the series, whose names stand in the view series';
comment on column amounts_billed.billing_month is 'Month in which the hour is billed, its first day';
comment on column amounts_billed.bucket_start is 'Start of the hour, UTC';
comment on column amounts_billed.cost is 'USD';
comment on column amounts_billed.usage is 'Usage in the unit of the series';
