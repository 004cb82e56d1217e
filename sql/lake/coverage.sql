--! about: Hours in the books, with the load that stored them.
--! grain: account, window_start
--! version: 1
select
  account,
  window_start,
  window_end,
  claimed_end,
  role,
  load_number,
  seen_at
from coverage
order by account, window_start
