--! about: Every load of a window of hours.
--! grain: load_number
select
  load_number,
  run_number,
  account,
  window_start,
  window_end,
  reason,
  role,
  outcome,
  row_count,
  restated,
  cost,
  claimed_end,
  seen_at
from ledger.loads
order by load_number
