--! about: The hours of each month as they are billed in it, by series number: hours of a closed month are as they were
--! about: at its close. For corrections, see view corrections.
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
comment on view hourly_costs_billed is 'Cost and usage by hour, as in costs_billed but without corrections: closed months as they were at the close. A series number replaces the names';
comment on column hourly_costs_billed.series_id is 'Number of the series; view series has its names';
comment on column hourly_costs_billed.billing_month is 'First day of the month that bills the hour, UTC';
comment on column hourly_costs_billed.bucket_start is 'Start of the hour, UTC';
comment on column hourly_costs_billed.cost is 'Cost in USD';
comment on column hourly_costs_billed.usage is 'Usage, in the unit that view series names';
