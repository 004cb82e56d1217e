--! about: costs_daily adds up to the loaded hours, for each day, account and billing dimension.
--! severity: fail
--! hours: by month
with name_of as (
  select series_id, any_value(account) as account, any_value(billing_dimension) as billing_dimension
  from ledger.series
  group by series_id
),
series_days as (
  select series_id, cast(bucket_start as date) as usage_date, sum(cost) as cost, sum(usage) as usage
  from ledger.hourly_costs
  group by series_id, usage_date
),
hourly as (
  select
    name_of.account,
    series_days.usage_date,
    name_of.billing_dimension,
    sum(series_days.cost) as cost,
    sum(series_days.usage) as usage
  from series_days
  left join name_of using (series_id)
  group by name_of.account, series_days.usage_date, name_of.billing_dimension
),
daily as (
  select account, usage_date, billing_dimension, sum(cost) as cost, sum(usage) as usage
  from costs_daily
  group by account, usage_date, billing_dimension
)
select
  coalesce(hourly.account, daily.account) as account,
  coalesce(hourly.usage_date, daily.usage_date) as usage_date,
  coalesce(hourly.billing_dimension, daily.billing_dimension) as billing_dimension,
  hourly.cost as hourly_cost,
  daily.cost as daily_cost,
  hourly.usage as hourly_usage,
  daily.usage as daily_usage
from hourly
full outer join daily
  on hourly.account = daily.account
  and hourly.usage_date = daily.usage_date
  and hourly.billing_dimension is not distinct from daily.billing_dimension
where hourly.cost is distinct from daily.cost or hourly.usage is distinct from daily.usage
order by account, usage_date, billing_dimension
