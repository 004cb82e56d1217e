--! about: The joins of view costs drop, repeat or change no hourly cost, for each account.
--! severity: fail
--! hours: by month
with account_of as (
  select series_id, any_value(account) as account
  from ledger.series
  group by series_id
),
of_series as (
  select series_id, count(*) as row_count, sum(cost) as cost, sum(usage) as usage
  from ledger.hourly_costs
  group by series_id
),
loaded as (
  select
    account_of.account,
    sum(of_series.row_count) as row_count,
    sum(of_series.cost) as cost,
    sum(of_series.usage) as usage
  from of_series
  left join account_of using (series_id)
  group by account_of.account
),
shown as (
  select account, count(*) as row_count, sum(cost) as cost, sum(usage) as usage
  from costs
  group by account
)
select
  coalesce(loaded.account, shown.account) as account,
  loaded.row_count as loaded_row_count,
  shown.row_count as shown_row_count,
  loaded.cost as loaded_cost,
  shown.cost as shown_cost,
  loaded.usage as loaded_usage,
  shown.usage as shown_usage
from loaded
full outer join shown using (account)
where loaded.row_count is distinct from shown.row_count
  or loaded.cost is distinct from shown.cost
  or loaded.usage is distinct from shown.usage
order by account
