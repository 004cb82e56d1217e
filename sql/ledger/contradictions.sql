--! about: Where the platform's totals of an account contradict its hours, or each other, newest first.
select
  epoch_ms(window_start) as window_start, epoch_ms(window_end) as window_end, reason, false as is_young, cost_difference
from ledger.contradictions where account = $account
order by window_start desc, window_end, question, billing_dimension;
