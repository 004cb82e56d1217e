--! about: The first hour that the books have, over all accounts.
select strftime(min(history_start), '%Y-%m-%dT%H:%M:%SZ') as history_start
from accounts;
