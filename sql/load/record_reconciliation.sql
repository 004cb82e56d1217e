--! about: The comparisons of a window, with the load that they allowed; null if none.
insert into ledger.reconciliation
select
  cast($run_number as bigint), cast($attempt as integer), cast($load_number as bigint), $account,
  cast($window_start as timestamp), cast($window_end as timestamp),
  check_code, measure, billing_dimension, row_count, ours, theirs, difference, tolerance, proven,
  cast($seen_at as timestamp)
from window_reconciliation;
