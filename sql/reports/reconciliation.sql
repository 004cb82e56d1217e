--! about: How does the month compare with the platform's own totals: every comparison, with both sums, difference and tolerance?
--! for: checking
--! grain: account, window_start, window_end, check_code, measure, billing_dimension, run_number, attempt, load_number
--! params: month month = last-complete
--! top: difference
--! important: check_code, difference, ours, theirs, proven, billing_dimension, measure, window_start, account
select
  account,
  window_start,
  window_end,
  check_code,
  measure,
  billing_dimension,
  run_number,
  attempt,
  load_number,
  proven_at,
  row_count,
  ours,
  theirs,
  difference,
  -- Counts have no tolerance; amounts have what rounding explains.
  tolerance,
  proven
from reconciliation
where window_start < cast($month as date) + interval 1 month
  and window_end > cast($month as date)
