--! about: The comparisons of a window, with the load that they let through; null where they let none.
insert into ledger.proofs
select
  cast($run_number as bigint), cast($reading as integer), cast($load_number as bigint), $account,
  cast($window_start as timestamp), cast($window_end as timestamp),
  compared, measure, billing_dimension, amounts, ours, theirs, difference, tolerance, proven,
  cast($seen_at as timestamp)
from window_proofs;
