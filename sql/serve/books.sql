--! about: Through when all accounts that the viewer sees are complete and settled, and from when on all of them are there.
select
  count(*) as accounts,
  strftime(min(history_start), '%Y-%m-%dT%H:%M:%SZ') as history_start,
  case when count(history_start) = count(*) then strftime(max(history_start), '%Y-%m-%dT%H:%M:%SZ') end as complete_from,
  case when count(complete_through) = count(*) then strftime(min(complete_through), '%Y-%m-%dT%H:%M:%SZ') end as complete_through,
  case when count(settled_through) = count(*) then strftime(min(settled_through), '%Y-%m-%dT%H:%M:%SZ') end as settled_through
from accounts
where account in (select account from visible_accounts);
