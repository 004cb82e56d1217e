--! about: Every forecast that was made of what a period will come to, with what it was made from.
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
  run_number
from ledger.forecasts;
comment on view forecasts is 'Forecasts of what periods will come to, as they were made: one row per scope, period and instant through which the books were complete';
comment on column forecasts.scope_kind is 'budget, or workspace: one resource type in one workspace of an account';
comment on column forecasts.budget is 'Name of the budget; null where it is of none';
comment on column forecasts.account is 'Account that it is of; null of a budget of several accounts, or of all';
comment on column forecasts.workspace is 'Workspace that it is of; null where it is of a budget, or of costs without one';
comment on column forecasts.resource_type is 'Resource type that it is of; null where it is of a budget, or of costs without one';
comment on column forecasts.period_kind is 'daily, weekly, monthly, quarterly or yearly';
comment on column forecasts.period is 'Name of the period, such as 2026-10';
comment on column forecasts.period_start is 'Start of the period, UTC';
comment on column forecasts.period_end is 'End of the period, UTC, exclusive';
comment on column forecasts.complete_through is 'Through when the books were complete: what is spent is of the hours before, the forecast of those after, UTC';
comment on column forecasts.made_at is 'When it was made, UTC';
comment on column forecasts.spent is 'What the complete hours of the period had cost, USD';
comment on column forecasts.forecast is 'What the whole period is expected to cost, USD; null where there is no forecast';
comment on column forecasts.low is 'Lower end of the interval, USD';
comment on column forecasts.high is 'Upper end of the interval, USD';
comment on column forecasts.level is 'Of how many periods in a hundred the outcome should lie in the interval';
comment on column forecasts.amount is 'What the budget allows in the period, USD; null where it is of no budget';
comment on column forecasts.exceeds_on is 'Day on which the forecast reaches the amount; null where it does not';
comment on column forecasts.reason is 'Why there is no forecast; null where there is one';
comment on column forecasts.step is 'Of what the history has a value each: hour or day';
comment on column forecasts.history_start is 'Start of the history that the model was made from, UTC';
comment on column forecasts.history_end is 'End of that history, UTC, exclusive';
comment on column forecasts.observations is 'How many values the history has';
comment on column forecasts.model is 'Model that did best on the history; level-4+2 is averaged with two others that did hardly worse';
comment on column forecasts.transform is 'What the values were transformed by: none, sqrt or log1p';
comment on column forecasts.seasons is 'Seasons that the model has, in steps, a JSON array';
comment on column forecasts.folds is 'How many times the model was tried on the history';
comment on column forecasts.mase is 'Mean absolute error in those trials, as a share of that of repeating the last season';
comment on column forecasts.smape is 'Symmetric mean absolute percentage error in those trials, percent';
comment on column forecasts.coverage is 'Share of those trials in which the sum of the period lay in its interval';
comment on column forecasts.scope is 'Of a budget, which costs are its own, as JSON';
comment on column forecasts.load_number is 'Last load in the books that it was made from';
comment on column forecasts.run_number is 'Run that made it';
