--! about: Forecasts of periods that have ended, each with the actual cost of its period.
--! grain: complete_through, scope_kind, budget, account, workspace, resource_type, scope, period_kind, period
--! version: 1
--! follows: outcomes
select
  scope_kind,
  budget,
  account,
  workspace,
  resource_type,
  period_kind,
  period,
  period_start,
  period_end,
  complete_through,
  made_at,
  lead_days,
  spent,
  forecast,
  low,
  high,
  level,
  actual,
  error,
  error_percent,
  is_within_interval,
  model,
  transform,
  observations,
  scope,
  run_number
from forecast_outcomes
order by complete_through, scope_kind, budget, account, workspace, resource_type, scope, period_kind, period
