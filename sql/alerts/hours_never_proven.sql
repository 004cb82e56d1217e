--! about: How many hours of unproven windows never matched the platform's totals, by account: the books have none of their
--! about: costs. Young hours, which the next run fetches again, are left out.
--! grain: account
with hours as (
  select distinct account, unnest(range(window_start, window_end, interval 1 hour)) as bucket_start
  from ledger.unproven
  where not is_young
)
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
order by hours.account;
