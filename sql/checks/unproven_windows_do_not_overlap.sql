--! about: No hour is recorded as unproven twice.
--! severity: fail
with beside as (
  select
    account,
    window_start,
    window_end,
    reason,
    max(window_end) over (
      partition by account
      order by window_start, window_end
      rows between unbounded preceding and 1 preceding
    ) as unproven_before
  from ledger.unproven
)
select account, window_start, window_end, reason, unproven_before
from beside
where window_start < unproven_before or window_start >= window_end
order by account, window_start
