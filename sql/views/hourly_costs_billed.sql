--! about: Cost and usage by hour, as in costs_billed but without corrections: closed months as they were at the close.
--! about: A series number replaces the names.
--! grain: series_id, bucket_start
-- For corrections, see view corrections.
create or replace view hourly_costs_billed as
select
  series_id,
  cast(date_trunc('month', bucket_start) as date) as billing_month, --: First day of the month that bills the hour, UTC
  bucket_start,
  cost,
  usage --: Usage, in the unit that view series names
from ledger.hourly_costs
anti join ledger.hourly_costs_at_close as at_close using (series_id, bucket_start)
union all
select series_id, usage_month, bucket_start, cost, usage
from ledger.hourly_costs_at_close
where cost is not null;
