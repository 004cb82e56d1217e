--! about: What did each month cost, compared with the month before, and this year so far? What to accrue for the open month?
--! for: finance
--! grain: account, month
--! params: from date = none, to date = none, account text = *
--! top: month
--! important: month, cost, change, billed_cost, accrual, forecast_basis, forecast_of_rest, year_to_date, year_to_date_from, state,
--! important: change_share, forecast_through, account
-- The cost of a closed month is that of its close, so change compares what was signed. billed_cost is what the month
-- bills: its invoice if one was entered, otherwise its cost plus the corrections of earlier closed months that it bills.
-- year_to_date adds up billed_cost since year_to_date_from: the start of the year, or of the books if they start later. An open month is not complete yet: its cost is what is in the books so far. The
-- accrual is its billed_cost so far plus a forecast of the rest. forecast_basis names the source of the forecast: a monthly budget of the whole account (also shown by
-- "budgets"), or else the sum of the forecasts of the account's workspaces. Both come from the last "alert", at most three
-- days ago. Otherwise, the rest is the mean of the last seven complete days.
with books as (
  select
    account,
    history_start,
    complete_through,
    date_trunc('month', complete_through) as open_month,
    date_diff('hour', complete_through, date_trunc('month', complete_through) + interval 1 month) as hours_left
  from accounts
  where complete_through is not null and ($account is null or account = $account)
),
added_up as (
  select
    series.account,
    hourly_costs.month,
    sum(hourly_costs.cost) as cost,
    -- Costs of hours that are too young to be complete.
    sum(hourly_costs.cost) filter (hourly_costs.bucket_start >= books.complete_through) as young_cost
  from (
    select series_id, billing_month as month, bucket_start, cost from hourly_costs_billed
  ) as hourly_costs
  join series using (series_id)
  join books on books.account = series.account
  group by all
),
corrected as (
  select account, billing_month as month, sum(cost) as cost
  from corrections
  group by account, billing_month
),
-- Complete months without costs are included with 0.
calendar as (
  select books.account, cast(month as date) as month
  from books, unnest(generate_series(date_trunc('month', history_start), complete_through, interval 1 month)) as months(month)
  where month < complete_through or month = open_month
),
costs_of_months as (
  select
    calendar.account,
    calendar.month,
    -- A closed month bills nothing more, also if an account that is no longer configured ends within it.
    calendar.month = books.open_month and books.hours_left > 0
      and calendar.month not in (select billing_month from ledger.closed_months) as is_open,
    books.history_start <= calendar.month as is_whole,
    books.history_start,
    coalesce(added_up.cost, 0) as cost,
    coalesce(added_up.young_cost, 0) as young_cost,
    coalesce(closes.billed_cost, coalesce(added_up.cost, 0) + coalesce(corrected.cost, 0)) as billed_cost
  from calendar
  join books using (account)
  left join added_up using (account, month)
  left join corrected using (account, month)
  left join closes on closes.account = calendar.account and closes.billing_month = calendar.month and closes.is_closed
),
candidates as (
  select
    books.account,
    forecasts.complete_through,
    'budget ' || forecasts.budget as basis,
    0 as place,
    forecasts.forecast - forecasts.spent as rest,
    date_diff('hour', forecasts.complete_through, forecasts.period_end) as hours_left
  from forecasts
  join books
    on forecasts.period_start = books.open_month
    and (
      forecasts.scope = cast(to_json({'account': [books.account]}) as varchar)
      or (forecasts.scope = '{}' and (select count(*) from accounts) = 1)
    )
  where forecasts.scope_kind = 'budget' and forecasts.period_kind = 'monthly' and forecasts.forecast is not null
  union all
  select
    books.account,
    forecasts.complete_through,
    'sum of workspaces' as basis,
    1 as place,
    sum(forecasts.forecast - forecasts.spent) as rest,
    date_diff('hour', forecasts.complete_through, max(forecasts.period_end)) as hours_left
  from forecasts
  join books on books.account = forecasts.account and forecasts.period_start = books.open_month
  where forecasts.scope_kind = 'workspace' and forecasts.period_kind = 'monthly' and forecasts.forecast is not null
  group by books.account, forecasts.complete_through
),
stored as (
  select candidates.*
  from candidates
  join books
    on books.account = candidates.account
    and candidates.complete_through <= books.complete_through
    and candidates.complete_through > books.complete_through - interval 3 day
  -- Budgets with the same scope share one forecast.
  qualify row_number() over (
    partition by candidates.account order by candidates.complete_through desc, candidates.place, candidates.basis
  ) = 1
),
last_days as (
  select series.account, sum(hourly_costs.cost) as cost
  from hourly_costs
  join series using (series_id)
  join books
    on books.account = series.account
    and hourly_costs.bucket_start >= books.complete_through - interval 7 day
    and hourly_costs.bucket_start < books.complete_through
    and books.history_start <= books.complete_through - interval 7 day
  group by series.account
),
rests as (
  select
    books.account,
    stored.complete_through as forecast_through,
    stored.basis,
    case
      when stored.rest is not null then cast(greatest(0, stored.rest) * books.hours_left as double) / stored.hours_left
      when books.history_start <= books.complete_through - interval 7 day
        then cast(coalesce(last_days.cost, 0) * books.hours_left as double) / 168
    end as cost
  from books
  left join stored using (account)
  left join last_days using (account)
),
summed as (
  select
    costs_of_months.*,
    rests.forecast_through,
    rests.basis,
    case when not is_open and lag(is_whole) over by_month then lag(costs_of_months.cost) over by_month end
      as cost_month_before,
    sum(costs_of_months.billed_cost) over (partition by account, date_trunc('year', month) order by month) as year_to_date,
    -- greatest() ignores nulls, so a missing forecast must be handled first.
    case
      when is_open and rests.cost is not null
        then cast(greatest(0, rests.cost - costs_of_months.young_cost) as decimal(38, 12))
    end as rest
  from costs_of_months
  join rests using (account)
  window by_month as (partition by account order by month)
)
select
  summed.account,
  summed.month,
  case
    when closed_months.billing_month is not null then 'closed'
    when summed.is_open then 'open'
    when summed.is_whole then 'complete'
    else 'partly before the books'
  end as state,
  cast(summed.cost as decimal(38, 12)) as cost,
  cast(summed.cost - summed.cost_month_before as decimal(38, 12)) as change,
  cast((summed.cost - summed.cost_month_before) / nullif(summed.cost_month_before, 0) as decimal(38, 6)) as change_share,
  cast(summed.billed_cost as decimal(38, 12)) as billed_cost,
  cast(summed.year_to_date as decimal(38, 12)) as year_to_date,
  cast(greatest(date_trunc('year', summed.month), summed.history_start) as date) as year_to_date_from,
  summed.rest as forecast_of_rest,
  cast(summed.billed_cost + summed.rest as decimal(38, 12)) as accrual,
  case
    when not summed.is_open then null
    when summed.rest is null then 'none: under 7 days'
    else coalesce(summed.basis, 'mean of 7 days, no stored forecast')
  end as forecast_basis,
  case when summed.is_open and summed.rest is not null then summed.forecast_through end as forecast_through
from summed
left join ledger.closed_months as closed_months on closed_months.billing_month = summed.month
where ($from is null or summed.month >= cast($from as date))
  and ($to is null or summed.month < cast($to as date))
