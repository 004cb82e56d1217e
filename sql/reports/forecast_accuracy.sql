--! about: How accurate were forecasts of periods that have ended: the error of each, and was the actual cost in its interval?
--! for: checking
--! grain: scope_kind, budget, account, workspace, resource_type, period_kind, period, complete_through
--! params: from date = none, to date = none, account text = *, budget text = *, workspace text = *
--! evaluated: outcomes
--! top: complete_through
--! important: period, forecast, budget, workspace, resource_type, actual, error_percent, is_within_interval, lead_days,
--! important: account
-- The outcome is the cost in the books now, or with --as-of, at that instant. from and to select by the start of the
-- period.
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
  lead_days,
  model,
  spent,
  forecast,
  low,
  high,
  level,
  actual,
  error,
  error_percent,
  is_within_interval
from forecast_outcomes
where ($from is null or period_start >= cast($from as timestamp))
  and ($to is null or period_start < cast($to as timestamp))
  and ($account is null or account = $account)
  and ($budget is null or budget = $budget)
  and ($workspace is null or workspace = $workspace)
-- If a budget's scope changed in between, it has two forecasts through one instant; the later one counts.
qualify
  row_number() over (
    partition by scope_kind, budget, account, workspace, resource_type, period_kind, period, complete_through
    order by run_number desc, scope
  ) = 1
