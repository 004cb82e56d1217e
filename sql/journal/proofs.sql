--! about: Comparisons with the platform's own totals that are given, not made: amounts of money and usage as decimal text.
insert into ledger.proofs
select
  cast($run_number as bigint), cast($reading as integer), cast($load_number as bigint), $account,
  cast($window_start as timestamp), cast($window_end as timestamp),
  compared, measure, billing_dimension, cast(amounts as bigint),
  cast(ours as decimal(38, 12)), cast(theirs as decimal(38, 12)), cast(difference as decimal(38, 12)),
  tolerance, proven, cast($seen_at as timestamp)
from (
  select unnest(
    from_json(
      $proofs,
      '[{
        "compared": "VARCHAR", "measure": "VARCHAR", "billing_dimension": "VARCHAR", "amounts": "VARCHAR",
        "ours": "VARCHAR", "theirs": "VARCHAR", "difference": "VARCHAR", "tolerance": "DOUBLE", "proven": "BOOLEAN"
      }]'
    ),
    recursive := true
  )
);
