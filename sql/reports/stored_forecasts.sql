--! about: What will each budget and resource type cost by the end of the period, according to the forecast that "alert" last stored?
--! for: finance
--! grain: scope_kind, budget, account, workspace, resource_type, period_kind, period
--! params: month month = none, account text = *, budget text = *, workspace text = *
--! evaluated: forecasts
--! top: forecast
--! important: period, forecast, budget, workspace, resource_type, amount, spent, exceeds_on, low, high, account
-- Without a month, lists the periods that were open at the last forecast; with a month, those that start in it. If there is
-- no forecast, reason says why.
select
  scope_kind,
  budget,
  account,
  workspace,
  resource_type,
  period_kind,
  period,
  complete_through,
  made_at,
  spent,
  forecast,
  low,
  high,
  level,
  amount,
  unit,
  exceeds_on,
  model,
  observations,
  reason
from forecasts
where case
    when $month is null then period_end > (select max(complete_through) from forecasts)
    else period_start >= cast($month as timestamp) and period_start < cast($month as timestamp) + interval 1 month
  end
  and ($account is null or account = $account)
  and ($budget is null or budget = $budget)
  and ($workspace is null or workspace = $workspace)
qualify
  row_number() over (
    partition by scope_kind, budget, account, workspace, resource_type, period_kind, period
    order by complete_through desc, run_number desc, scope
  ) = 1
