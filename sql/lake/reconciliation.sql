--! about: Every comparison with the platform's totals.
--! grain: run_number, account, window_start, window_end, attempt, check_code, measure, billing_dimension, load_number
--! version: 1
select
  run_number,
  attempt,
  load_number,
  account,
  window_start,
  window_end,
  check_code,
  measure,
  billing_dimension,
  row_count,
  ours,
  theirs,
  difference,
  tolerance,
  proven,
  proven_at
from reconciliation
order by run_number, account, window_start, window_end, attempt, check_code, measure, billing_dimension, load_number
