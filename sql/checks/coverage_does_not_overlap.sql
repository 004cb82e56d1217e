--! about: No hour of an account belongs to two loads, and no covered window is empty.
--! severity: fail
with beside as (
  select
    account,
    window_start,
    window_end,
    load_number,
    max(window_end) over (
      partition by account
      order by window_start, window_end
      rows between unbounded preceding and 1 preceding
    ) as covered_before
  from ledger.covered
  where replaced_by is null
)
select account, window_start, window_end, load_number, covered_before
from beside
where window_start < covered_before or window_start >= window_end
order by account, window_start
