--! about: Queries whose answers are recorded as contradictions, the least recently sent first.
select
  split_part(question, '_by_', 1) as purpose, split_part(question, '_by_', 2) as unit, billing_dimension,
  epoch_ms(window_start) as window_start, epoch_ms(window_end) as window_end
from ledger.contradictions
where account = $account
order by seen_at, question, window_start, window_end, billing_dimension;
