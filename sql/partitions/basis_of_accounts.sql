--! about: The name of each account.
select account, coalesce(name, '') as basis
from accounts
