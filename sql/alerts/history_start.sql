--! about: The first hour from which all accounts are in the books.
select strftime(max(history_start), '%Y-%m-%dT%H:%M:%SZ') as history_start
from accounts;
