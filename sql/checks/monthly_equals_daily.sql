--! about: costs_monthly adds up to costs_daily, for each month, account and billing dimension.
--! severity: fail
--! hours: by month
with daily as (
  select
    account,
    cast(date_trunc('month', usage_date) as date) as usage_month,
    billing_dimension,
    sum(cost) as cost,
    sum(usage) as usage
  from costs_daily
  group by account, usage_month, billing_dimension
),
monthly as (
  select account, usage_month, billing_dimension, sum(cost) as cost, sum(usage) as usage
  from costs_monthly
  group by account, usage_month, billing_dimension
)
select
  coalesce(daily.account, monthly.account) as account,
  coalesce(daily.usage_month, monthly.usage_month) as usage_month,
  coalesce(daily.billing_dimension, monthly.billing_dimension) as billing_dimension,
  daily.cost as daily_cost,
  monthly.cost as monthly_cost,
  daily.usage as daily_usage,
  monthly.usage as monthly_usage
from daily
full outer join monthly
  on daily.account = monthly.account
  and daily.usage_month = monthly.usage_month
  and daily.billing_dimension is not distinct from monthly.billing_dimension
where daily.cost is distinct from monthly.cost or daily.usage is distinct from monthly.usage
order by account, usage_month, billing_dimension
