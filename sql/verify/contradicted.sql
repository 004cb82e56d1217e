--! about: Whether any part of a window is recorded as contradicted by the same query.
select 1 from ledger.contradictions
where account = $account and question = $question
  and window_start < cast($window_end as timestamp) and window_end > cast($window_start as timestamp)
limit 1;
