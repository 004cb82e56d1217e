--! about: Days of which hours differed in the last week and match now, by account; only hours and days are windows of a day.
--! grain: account
select failed.account, string_agg(distinct strftime(failed.window_start, '%Y-%m-%d'), ', ' order by strftime(failed.window_start, '%Y-%m-%d')) as days
from ledger.reconciliation as failed
where not failed.proven
  and failed.proven_at >= (select max(proven_at) from ledger.reconciliation) - interval 7 days
  and failed.window_end <= date_trunc('day', failed.window_start) + interval 1 day
  and not exists (
    from ledger.unproven as unproven
    where unproven.account = failed.account
      and unproven.window_start < date_trunc('day', failed.window_start) + interval 1 day
      and unproven.window_end > date_trunc('day', failed.window_start)
  )
group by failed.account
order by failed.account;
