--! about: Each account: through when it is complete, its unproven windows, the role of its token.
select
  accounts.account,
  accounts.role,
  strftime(accounts.complete_through, '%Y-%m-%d %H:%M') as complete_through,
  (select count(*) from ledger.unproven as unproven where unproven.account = accounts.account and not unproven.is_young) as unproven
from accounts
order by accounts.account;
