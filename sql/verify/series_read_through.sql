--! about: The load through which ledger.series_hours knows the hours of series. 0 if nothing is known, or if a load since
--! about: has fetched lost hours again: these have the number of an older load.
with known as (
  select coalesce(max(load_number), 0) as load_number from ledger.series_hours
)
select
  case
    when exists (
      from ledger.covered
      where covered.load_number > known.load_number and covered.since_load < covered.load_number
    ) then 0
    else known.load_number
  end as load_number
from known;
