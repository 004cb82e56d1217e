--! about: Each account, and the instants through which its books are complete and settled.
--! grain: account
--! version: 1
select
  account,
  name,
  role,
  history_start,
  first_covered,
  complete_through,
  settled_through
from accounts
order by account
