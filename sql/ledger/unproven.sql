--! about: Windows of an account that failed reconciliation when they were last fetched, newest first.
select epoch_ms(window_start) as window_start, epoch_ms(window_end) as window_end, reason, is_young, cost_difference
from ledger.unproven where account = $account order by window_start desc;
