--! about: Forecasts of periods as they were made; costs are decimal text.
insert into ledger.forecasts
select
  cast($run_number as bigint), cast($made_at as timestamp), cast($load_number as bigint),
  scope_kind, budget, account, workspace, resource_type, scope,
  period_kind, period, cast(period_start as timestamp), cast(period_end as timestamp),
  cast(complete_through as timestamp),
  step, cast(history_start as timestamp), cast(history_end as timestamp), observations, model, transform, seasons,
  cast(spent as decimal(38, 12)), cast(forecast as decimal(38, 12)), cast(low as decimal(38, 12)),
  cast(high as decimal(38, 12)), cast($level as integer),
  folds, mase, smape, coverage,
  cast(amount as decimal(38, 12)), cast(exceeds_on as date), reason
from rows_in(
  $forecasts,
  '[{
    "scope_kind": "VARCHAR", "budget": "VARCHAR", "account": "VARCHAR", "workspace": "VARCHAR",
    "resource_type": "VARCHAR", "scope": "VARCHAR", "period_kind": "VARCHAR", "period": "VARCHAR",
    "period_start": "VARCHAR", "period_end": "VARCHAR", "complete_through": "VARCHAR", "step": "VARCHAR",
    "history_start": "VARCHAR", "history_end": "VARCHAR", "observations": "INTEGER", "model": "VARCHAR",
    "transform": "VARCHAR", "seasons": "VARCHAR", "spent": "VARCHAR", "forecast": "VARCHAR", "low": "VARCHAR",
    "high": "VARCHAR", "folds": "INTEGER", "mase": "DOUBLE", "smape": "DOUBLE", "coverage": "DOUBLE",
    "amount": "VARCHAR", "exceeds_on": "VARCHAR", "reason": "VARCHAR"
  }]'
);
