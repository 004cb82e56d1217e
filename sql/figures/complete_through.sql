--! about: The instant through which the books of an account are complete: every hour before it is known and proven. One row: the
--! about: account.
select account as subject, strftime(complete_through, '%Y-%m-%dT%H:%M:%SZ') as value
from accounts
where complete_through is not null;
