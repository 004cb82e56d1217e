--! about: Every forecast of a period total, with the data and the model that it was made from.
--! grain: scope_kind, budget, account, workspace, resource_type, scope, period_kind, period, complete_through
create or replace view forecasts as
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
  run_number,
  coalesce(json_extract_string(scope, '$.unit'), 'USD') as unit
from ledger.forecasts;
comment on view forecasts is 'Forecasts of period totals as they were made: one row per scope, period and instant through which the books were complete';
comment on column forecasts.scope_kind is 'budget, or workspace: one resource type in one workspace of an account';
comment on column forecasts.budget is 'Name of the budget; null if the forecast is for no budget';
comment on column forecasts.account is 'Account of the forecast; null for a budget of several or all accounts';
comment on column forecasts.workspace is 'Workspace of the forecast; null for a budget, or for costs without a workspace';
comment on column forecasts.resource_type is 'Resource type of the forecast; null for a budget, or for costs without a resource type';
comment on column forecasts.period_kind is 'daily, weekly, monthly, quarterly or yearly';
comment on column forecasts.period is 'Name of the period, such as 2026-10';
comment on column forecasts.period_start is 'Start of the period, UTC';
comment on column forecasts.period_end is 'End of the period, UTC, exclusive';
comment on column forecasts.complete_through is 'The books were complete through this instant, UTC: hours before it are spent, hours after it are forecast';
comment on column forecasts.made_at is 'When the forecast was made, UTC';
comment on column forecasts.spent is 'Cost of the period''s complete hours, in the unit of column unit';
comment on column forecasts.forecast is 'Expected cost of the whole period, in the same unit; null if there is no forecast';
comment on column forecasts.low is 'Lower end of the interval, in the same unit';
comment on column forecasts.high is 'Upper end of the interval, in the same unit';
comment on column forecasts.level is 'Confidence level of the interval: out of 100 periods, how many should end inside it';
comment on column forecasts.amount is 'Budget amount of the period, in the same unit; null if the forecast is for no budget';
comment on column forecasts.exceeds_on is 'Day on which the forecast reaches the budget amount, UTC; null if it does not';
comment on column forecasts.reason is 'Why there is no forecast; null if there is one';
comment on column forecasts.step is 'Time step of the history: hour or day';
comment on column forecasts.history_start is 'Start of the history that the model was fitted to, UTC';
comment on column forecasts.history_end is 'End of that history, UTC, exclusive';
comment on column forecasts.observations is 'Number of values in the history';
comment on column forecasts.model is 'Model with the smallest error on the history; level-4+2 is that model averaged with two near-ties';
comment on column forecasts.transform is 'Transformation of the values: none, sqrt or log1p';
comment on column forecasts.seasons is 'Lengths of the model''s seasons in steps, a JSON array';
comment on column forecasts.folds is 'How many times the model was tested on the history';
comment on column forecasts.mase is 'Mean absolute scaled error in those tests: 1 is as good as repeating the last season';
comment on column forecasts.smape is 'Symmetric mean absolute percentage error in those tests';
comment on column forecasts.coverage is 'Share of those tests in which the period total was inside its interval';
comment on column forecasts.scope is 'Filter that selects the budget''s costs, as JSON; null if the forecast is for no budget';
comment on column forecasts.load_number is 'Last load in the books when the forecast was made';
comment on column forecasts.run_number is 'Run that made the forecast';
comment on column forecasts.unit is 'USD, or the unit of usage that the budget counts';
