--! about: Forecasts of period totals: the last one that was made per scope, period and instant through which the books were
--! about: complete.
--! grain: scope_kind, budget, account, workspace, resource_type, scope, period_kind, period, complete_through
create or replace view forecasts as
select
  scope_kind,
  budget,
  account, --: Account of the forecast; null for a budget of several or all accounts
  workspace, --: Workspace of the forecast; null for a budget, or for costs without a workspace
  resource_type, --: Resource type of the forecast; null for a budget, or for costs without a resource type
  period_kind,
  period,
  period_start,
  period_end,
  complete_through, --: The books were complete through this instant, UTC: hours before it are spent, hours after it are forecast
  made_at,
  spent, --: Cost of the period's complete hours, in the unit of column unit
  forecast, --: Expected cost of the whole period, in the same unit; null if there is no forecast
  low, --: Lower end of the interval, in the same unit
  high, --: Upper end of the interval, in the same unit
  level, --: Confidence level of the interval: out of 100 periods, how many should end inside it
  amount, --: Budget amount of the period, in the same unit; null if the forecast is for no budget
  exceeds_on, --: Day on which the forecast reaches the budget amount, UTC; null if it does not
  reason, --: Why there is no forecast; null if there is one
  step, --: Time step of the history: hour or day
  history_start, --: Start of the history that the model was fitted to, UTC
  history_end, --: End of that history, UTC, exclusive
  observations,
  model, --: Model with the smallest error on the history; level-4+2 is that model averaged with two near-ties
  transform,
  seasons, --: Lengths of the model's seasons in steps, a JSON array
  folds, --: How many times the model was tested on the history
  mase, --: Mean absolute scaled error in those tests: 1 is as good as repeating the last season
  smape, --: Symmetric mean absolute percentage error in those tests
  coverage, --: Share of those tests in which the period total was inside its interval
  scope,
  load_number, --: Last load in the books when the forecast was made
  run_number, --: Run that made the forecast
  coalesce(json_extract_string(scope, '$.unit'), 'USD') as unit --: USD, or the unit of usage that the budget counts
from ledger.forecasts
qualify row_number() over (
  partition by scope_kind, budget, account, workspace, resource_type, scope, period_kind, period, complete_through
  order by run_number desc
) = 1;
