--! about: What a day of each account usually costs, USD: the mean of its last seven complete days. Only of accounts with costs
--! about: before that week, since a shorter history says little.
--! grain: account
with weeks as (
  select account, complete_through - interval 7 days as week_start, complete_through as week_end
  from accounts
  where history_start <= complete_through - interval 7 days
),
costs as (
  select
    weeks.account,
    sum(hourly_costs.cost) filter (hourly_costs.bucket_start >= weeks.week_start) as cost,
    bool_or(hourly_costs.bucket_start < weeks.week_start) as has_earlier
  from weeks
  join series on series.account = weeks.account
  join hourly_costs on hourly_costs.series_id = series.series_id and hourly_costs.bucket_start < weeks.week_end
  group by weeks.account
)
select account, cast(cast(cost / 7 as decimal(38, 12)) as varchar) as cost_a_day
from costs
where has_earlier and cost > 0
order by account;
