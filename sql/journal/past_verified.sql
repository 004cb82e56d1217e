--! about: The result of verifying past totals: within the window and billing dimension (null: all), removes earlier
--! about: contradictions and records those found now.
delete from ledger.contradictions
where account = $account
  and question = $question
  and ($billing_dimension is null or billing_dimension = $billing_dimension)
  and window_start < cast($window_end as timestamp)
  and window_end > cast($window_start as timestamp);

insert into ledger.contradictions
select
  $account, $question, billing_dimension, cast(window_start as timestamp), cast(window_end as timestamp), reason,
  cast($run_number as bigint), cast($seen_at as timestamp), cast(cost_difference as decimal(38, 12))
from rows_in(
  $contradictions,
  '[{
    "billing_dimension": "VARCHAR", "window_start": "VARCHAR", "window_end": "VARCHAR", "reason": "VARCHAR",
    "cost_difference": "VARCHAR"
  }]'
);
