--! about: Each account, and the instants through which its books are complete and settled.
--! grain: account
--! version: 1
from accounts
order by account
