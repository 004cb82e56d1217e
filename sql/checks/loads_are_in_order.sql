--! about: Load numbers are unique, and each load received its numbers after the load before it. --as-of depends on
--! about: this.
--! severity: fail
with known as (
  select
    loads.load_number,
    loads.account,
    loads.run_number,
    loads.seen_at,
    -- Under a fast clock a load was seen later than it was; the platform's own clock, or a later correction, says so.
    case
      when loads.load_number in (select load_number from ledger.claims_corrected) then null
      when loads.seen_at > loads.platform_at + interval 1 hour then loads.platform_at
      else loads.seen_at
    end as counted_at
  from ledger.loads as loads
),
beside as (
  select
    *,
    lag(load_number) over in_order as load_before,
    lag(run_number) over in_order as run_before,
    lag(seen_at) over in_order as seen_before,
    lag(counted_at) over in_order as counted_before
  from known
  window in_order as (order by load_number, seen_at)
)
select load_number, account, seen_at, load_before, seen_before
from beside
where load_before = load_number
  or counted_before > seen_at
  -- Two accounts of one run whose clocks differ by less than a minute.
  and not (run_before = run_number and seen_before < seen_at + interval 1 minute)
order by load_number
