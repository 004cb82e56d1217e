--! about: Every load of the books, with what its landing folder must contain.
select
  load_number, account, epoch_ms(window_start) as window_start, epoch_ms(window_end) as window_end, requests, landing
from wh.ledger.loads
order by load_number;
