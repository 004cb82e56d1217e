--! about: The instants through which the books of each account are complete and settled.
select
  account,
  epoch_ms(history_start) as history_start,
  epoch_ms(complete_through) as complete_through,
  epoch_ms(settled_through) as settled_through,
  ended_at is not null as has_ended
from accounts order by account;
