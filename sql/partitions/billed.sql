--! about: What the closes of months changed in the hours that each month bills: hours of closed months as they were at the
--! about: close, and the corrections that a month bills. Computed once for all partitions.
create or replace temp table lake_at_close as
select series_id, bucket_start, usage_month, cost, usage
from ledger.hourly_costs_at_close;

create or replace temp table lake_corrections as
select series_id, billing_month, bucket_start, cost, usage
from corrections;
