--! about: Every forecast of a period total, as it was made.
--! grain: complete_through, scope_kind, budget, account, workspace, resource_type, scope, period_kind, period
--! version: 1
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
  spent,
  forecast,
  low,
  high,
  level,
  amount,
  exceeds_on,
  reason,
  step,
  history_start,
  history_end,
  observations,
  model,
  transform,
  seasons,
  folds,
  mase,
  smape,
  coverage,
  scope,
  load_number,
  run_number
from forecasts
order by complete_through, scope_kind, budget, account, workspace, resource_type, scope, period_kind, period
