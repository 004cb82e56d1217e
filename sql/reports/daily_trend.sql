--! about: What did each day cost, compared with the day before, the same weekday a week before and the last seven days?
--! for: teams
--! grain: account, workspace, usage_date
--! params: from date = -30d, to date = complete-through, account text = *, workspace text = *
--! params: by_workspace boolean = false
--! top: usage_date
--! important: usage_date, cost, workspace, change_to_day_before,
--! important: average_of_seven_days, cost_so_far, change_to_week_before, account
--! sparkline: cost over usage_date
-- The cost of an incomplete day is null; cost_so_far has what is known. workspace is null for the total of all workspaces,
-- and with by_workspace for costs that belong to none.
with books as (
  select account, history_start, complete_through
  from accounts
  where $account is null or account = $account
),
asked as (
  -- For one account without workspaces, the series does not matter; grouping by series would take 50 % longer.
  select
    count(distinct account) > 1 or $by_workspace or $workspace is not null as is_by_series,
    min(account) as first_account
  from series
),
added_up as (
  select
    case when asked.is_by_series then hourly_costs.series_id end as series_id,
    cast(hourly_costs.bucket_start as date) as usage_date,
    sum(hourly_costs.cost) as cost
  from hourly_costs
  cross join asked
  where hourly_costs.bucket_start >= cast($from as timestamp) - interval 7 day
    and hourly_costs.bucket_start < cast($to as timestamp)
  group by all
),
costs_of_days as materialized (
  select
    coalesce(series.account, asked.first_account) as account,
    case when $by_workspace or $workspace is not null then series.workspace end as workspace,
    added_up.usage_date,
    sum(added_up.cost) as cost
  from added_up
  cross join asked
  left join series on series.series_id = added_up.series_id
  where ($account is null or coalesce(series.account, asked.first_account) = $account)
    and ($workspace is null or series.workspace = $workspace)
  group by all
),
lines as (
  select distinct account, workspace
  from costs_of_days
  where $by_workspace
  union all
  select account, $workspace
  from books
  where not $by_workspace
),
calendar as (
  select cast(usage_date as date) as usage_date
  from generate_series(
    cast($from as timestamp) - interval 7 day, cast($to as timestamp) - interval 1 day, interval 1 day
  ) as days(usage_date)
),
days as (
  select
    lines.account,
    lines.workspace,
    calendar.usage_date,
    coalesce(
      books.history_start <= calendar.usage_date
      and books.complete_through >= calendar.usage_date + interval 1 day,
      false
    ) as is_complete,
    -- A complete day without rows cost 0. Any other day without rows is unknown.
    case when is_complete then cast(coalesce(costs_of_days.cost, 0) as decimal(38, 12)) end as cost,
    case when not is_complete then cast(costs_of_days.cost as decimal(38, 12)) end as cost_so_far
  from lines
  join books using (account)
  cross join calendar
  left join costs_of_days
    on costs_of_days.account = lines.account
    and costs_of_days.workspace is not distinct from lines.workspace
    and costs_of_days.usage_date = calendar.usage_date
),
compared as (
  select
    account,
    workspace,
    usage_date,
    is_complete,
    cost,
    cost_so_far,
    lag(cost) over by_date as cost_day_before,
    lag(cost, 7) over by_date as cost_week_before,
    case when count(cost) over last_week = 7 then sum(cost) over last_week end as cost_of_seven_days
  from days
  window
    by_date as (partition by account, workspace order by usage_date),
    last_week as (partition by account, workspace order by usage_date rows between 6 preceding and current row)
)
select
  account,
  workspace,
  usage_date,
  is_complete,
  cost,
  cost_so_far,
  cast(cost - cost_day_before as decimal(38, 12)) as change_to_day_before,
  cast(cost - cost_week_before as decimal(38, 12)) as change_to_week_before,
  -- Divides whole trillionths of a dollar, rounded, because a quotient of decimals would be a DOUBLE.
  cast(
    cast(
      (cast(cost_of_seven_days * 1000000000000 as hugeint) + 3 * sign(cost_of_seven_days)) // 7 as decimal(38, 0)
    ) * 0.000000000001 as decimal(38, 12)
  ) as average_of_seven_days
from compared
where usage_date >= cast($from as date)
