--! about: What each account spent in the month from $month_start to $month_end and on its last complete day: in total,
--! about: by workspace and by resource type. The $largest workspaces and types over all accounts have rows of their
--! about: own; the others of an account share one row. Unknown values are null.
--! grain: account, spender, name
with days as (
  select
    account,
    date_trunc('day', complete_through) - interval 1 day as day_start,
    date_trunc('day', complete_through) as day_end,
    date_trunc('day', complete_through) > first_covered as has_day,
    complete_through >= cast($month_start as timestamp) as has_month
  from accounts
  where complete_through is not null
),
spends as (
  select
    series.account,
    series.workspace,
    series.resource_type,
    hourly_costs.cost,
    days.has_day and hourly_costs.bucket_start >= days.day_start and hourly_costs.bucket_start < days.day_end as is_day,
    days.has_month and hourly_costs.bucket_start >= cast($month_start as timestamp) as is_month
  from ledger.hourly_costs as hourly_costs
  join ledger.series as series using (series_id)
  join days on days.account = series.account
  where hourly_costs.bucket_start < cast($month_end as timestamp)
    and hourly_costs.bucket_start >= (
      select least(cast($month_start as timestamp), min(day_start)) from days where has_day or has_month
    )
),
parts as (
  select account, 'account' as spender, '' as name, cost, is_day, is_month from spends
  union all
  select account, 'workspace', coalesce(workspace, '(none)'), cost, is_day, is_month from spends
  union all
  select account, 'resource_type', coalesce(resource_type, '(none)'), cost, is_day, is_month from spends
  union all
  -- An account that spent nothing has a row, too.
  select account, 'account', '', 0, true, true from days
),
sums as (
  select
    account,
    spender,
    name,
    coalesce(sum(cost) filter (is_month), 0) as month_cost,
    coalesce(sum(cost) filter (is_day), 0) as day_cost
  from parts
  where is_day or is_month
  group by account, spender, name
),
ranked as (
  select
    *,
    spender <> 'account' and row_number() over (
      partition by spender
      order by greatest(abs(month_cost), abs(day_cost)) desc, account, name
    ) > $largest as is_other
  from sums
)
select
  ranked.account,
  ranked.spender,
  case when ranked.is_other then '(others)' else ranked.name end as name,
  cast(case when any_value(days.has_month) then sum(ranked.month_cost) end as varchar) as month_to_date,
  cast(case when any_value(days.has_day) then sum(ranked.day_cost) end as varchar) as latest_day,
  case when any_value(days.has_day) then epoch_ms(any_value(days.day_start)) end as latest_day_start
from ranked
join days on days.account = ranked.account
group by ranked.account, ranked.spender, ranked.is_other, case when ranked.is_other then '(others)' else ranked.name end
order by ranked.account, ranked.spender, ranked.is_other, sum(ranked.month_cost) desc, name
