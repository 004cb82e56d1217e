--! about: Load numbers are unique, and each load received its numbers after the load before it. --as-of depends on
--! about: this.
--! severity: fail
with beside as (
  select
    load_number,
    account,
    seen_at,
    lag(load_number) over (order by load_number, seen_at) as load_before,
    lag(seen_at) over (order by load_number, seen_at) as seen_before
  from ledger.loads
)
select load_number, account, seen_at, load_before, seen_before
from beside
where load_before = load_number or seen_before > seen_at
order by load_number
