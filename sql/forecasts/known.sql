--! about: The scopes and periods of stored forecasts made with data complete through an instant or later.
select scope_kind, budget, account, workspace, resource_type, scope, period_kind, period,
  epoch_ms(complete_through) as complete_through
from ledger.forecasts
where complete_through >= cast($from as timestamp);
