--! about: Comparisons with the platform's totals that are taken from the journal, not made here; cost and usage are
--! about: decimal text.
insert into ledger.reconciliation
select
  cast($run_number as bigint), cast($attempt as integer), cast($load_number as bigint), $account,
  cast($window_start as timestamp), cast($window_end as timestamp),
  check_code, measure, billing_dimension, cast(row_count as bigint),
  cast(ours as decimal(38, 12)), cast(theirs as decimal(38, 12)), cast(difference as decimal(38, 12)),
  tolerance, proven, cast($seen_at as timestamp)
from rows_in(
  $reconciliations,
  '[{
    "check_code": "VARCHAR", "measure": "VARCHAR", "billing_dimension": "VARCHAR", "row_count": "VARCHAR",
    "ours": "VARCHAR", "theirs": "VARCHAR", "difference": "VARCHAR", "tolerance": "DOUBLE", "proven": "BOOLEAN"
  }]'
);
