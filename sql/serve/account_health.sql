--! about: Each account: through when it is complete, its unproven windows, the role of its token.
select
  accounts.account,
  accounts.role,
  concat_ws(
    ', ',
    coalesce(strftime(accounts.complete_through, '%Y-%m-%d %H:%M'), 'nothing yet'),
    case when accounts.ended_at is not null then 'no longer configured' end
  ) as complete_through,
  (select count(*) from ledger.unproven as unproven where unproven.account = accounts.account and not unproven.is_young) as unproven
from accounts
order by accounts.account;
