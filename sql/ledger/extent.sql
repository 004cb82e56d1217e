--! about: The first and the last instant that loads speak for; null if there are none.
select epoch_ms(min(window_start)) as first_hour, epoch_ms(max(window_end)) as end_hour
from ledger.covered;
