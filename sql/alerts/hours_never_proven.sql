--! about: How many hours of unproven windows never matched the platform's totals, by account: the books have none of their
--! about: costs. Young hours, which the next run fetches again, are left out. And what the platform's lines and its totals say
--! about: that they cost, USD: null unless the windows are just these hours.
--! grain: account
with windows as (
  select account, window_start, window_end
  from ledger.unproven
  where not is_young
  group by all
),
hours as (
  select distinct account, unnest(range(window_start, window_end, interval 1 hour)) as bucket_start
  from windows
),
missing as (
  select hours.account, count(*) as hours
  from hours
  join accounts on accounts.account = hours.account and hours.bucket_start >= accounts.history_start
  where not exists (
    from ledger.covered as covered
    where covered.account = hours.account
      and covered.replaced_by is null
      and hours.bucket_start >= covered.window_start
      and hours.bucket_start < covered.window_end
  )
  group by hours.account
),
-- The last comparison of all costs of each window.
compared as (
  select windows.account, windows.window_start, windows.window_end,
    max_by(failed.ours, (failed.proven_at, abs(failed.difference))) as lines,
    max_by(failed.theirs, (failed.proven_at, abs(failed.difference))) as totals
  from windows
  left join ledger.reconciliation as failed
    on failed.account = windows.account
    and failed.window_start = windows.window_start
    and failed.window_end = windows.window_end
    and failed.measure = 'cost'
    and failed.billing_dimension is null
    and not failed.proven
  group by all
),
sums as (
  select
    account,
    sum(date_diff('hour', window_start, window_end)) as hours,
    bool_and(lines is not null) as is_known,
    sum(lines) as lines,
    sum(totals) as totals
  from compared
  group by account
)
select
  missing.account,
  missing.hours,
  case when is_known and sums.hours = missing.hours then cast(cast(lines as decimal(38, 12)) as varchar) end as lines,
  case when is_known and sums.hours = missing.hours then cast(cast(totals as decimal(38, 12)) as varchar) end as totals
from missing
join sums using (account)
order by missing.account;
