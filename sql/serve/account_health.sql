--! about: Each account: through when it is complete, its unproven windows, the role of its token.
select
  accounts.account,
  accounts.role,
  strftime(accounts.complete_through, '%Y-%m-%dT%H:%M:%SZ') as complete_through,
  accounts.ended_at is not null as is_ended,
  (select count(*) from ledger.unproven as unproven where unproven.account = accounts.account and not unproven.is_young) as unproven
from accounts
order by accounts.account;
