--! about: No series has two rows for one hour.
--! severity: fail
--! hours: by month
-- One bit per hour of a day: memory holds one row per series and day, not one per series and hour.
with days as (
  select
    series_id,
    cast(bucket_start as date) as usage_date,
    count(*) as row_count,
    bit_count(bit_or(1 << hour(bucket_start))) as hours
  from ledger.hourly_costs
  group by series_id, usage_date
)
select series_id, usage_date, row_count, hours
from days
where row_count <> hours
order by series_id, usage_date
