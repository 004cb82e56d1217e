--! about: Hours in the books, with the load that stored them.
--! grain: account, window_start
--! version: 1
from coverage
order by account, window_start
