--! about: The covered windows of an account, in order.
select
  epoch_ms(window_start) as window_start,
  epoch_ms(window_end) as window_end,
  epoch_ms(claimed_end) as claimed_end,
  epoch_ms(seen_at) as seen_at
from coverage where account = $account order by window_start;
