--! about: Every amount has a series, and both are of one account.
--! severity: fail
with paying as (
  select account, series_id, count(*) as amounts, sum(cost) as cost
  from ledger.amounts
  group by account, series_id
)
select paying.account, paying.series_id, paying.amounts, paying.cost
from paying
where not exists (
  select 1 from ledger.series as series
  where series.series_id = paying.series_id and series.account = paying.account
)
order by paying.account, paying.series_id
