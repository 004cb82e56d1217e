--! about: Forecasts of periods that have ended, each with the actual cost of its period.
--! grain: complete_through, scope_kind, budget, account, workspace, resource_type, scope, period_kind, period
--! version: 1
--! follows: outcomes
from forecast_outcomes
order by complete_through, scope_kind, budget, account, workspace, resource_type, scope, period_kind, period
