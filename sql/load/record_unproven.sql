--! about: A window that did not prove: what was compared is kept, its last proven state stands.
insert into ledger.proofs
select
  cast($run_number as bigint), null, $account,
  cast($window_start as timestamp), cast($window_end as timestamp),
  compared, measure, billing_dimension, amounts, ours, theirs, difference, tolerance, proven,
  cast($seen_at as timestamp)
from window_proofs;

insert into ledger.unproven
select
  $account, cast($window_start as timestamp), cast($window_end as timestamp), $because,
  cast($run_number as bigint), cast($seen_at as timestamp);
