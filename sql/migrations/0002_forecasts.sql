--! about: Forecasts of what periods will come to, as they were made: what a forecast was worth is known only later.
-- A row for each scope, each period of it and each instant through which the books were complete when it was made. It is
-- never changed: what the books say now of its period is computed when somebody asks.
create table ledger.forecasts (
  run_number bigint not null,
  -- The books' own now.
  made_at timestamp not null,
  -- The last load that was in the books it was made from.
  load_number bigint not null,
  -- budget, or workspace: of one resource type in one workspace of an account.
  scope_kind varchar not null,
  budget varchar,
  -- Of a budget the one account that it is of; null where it is of several, or of all.
  account varchar,
  workspace varchar,
  resource_type varchar,
  -- Of a budget which costs are its own, as JSON: what its name stands for may change later.
  scope varchar,
  -- monthly and so on, and the period's name: 2026-10.
  period_kind varchar not null,
  period varchar not null,
  period_start timestamp not null,
  period_end timestamp not null,
  complete_through timestamp not null,
  -- The history: values of one hour or one day each, and how many of them the model was made from.
  step varchar,
  history_start timestamp,
  history_end timestamp,
  observations integer,
  model varchar,
  transform varchar,
  -- Lengths of the seasons in steps, a JSON array.
  seasons varchar,
  -- USD in the complete hours of the period.
  spent decimal(38, 12) not null,
  -- USD at the period's end; null where there is no forecast, and reason says why.
  forecast decimal(38, 12),
  low decimal(38, 12),
  high decimal(38, 12),
  -- Of how many outcomes in a hundred the interval should hold.
  level integer not null,
  -- How the model did on its own history: number of trials, errors, and the share of sums that intervals held.
  folds integer,
  mase double,
  smape double,
  coverage double,
  -- USD that may be spent in the period, and the day on which the forecast reaches it, by the budget's own clocks.
  amount decimal(38, 12),
  exceeds_on date,
  reason varchar
);
