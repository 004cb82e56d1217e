--! about: What stored forecasts say that were made with data complete through an instant or later.
select scope_kind, budget, account, workspace, resource_type, scope, period_kind, period,
  epoch_ms(complete_through) as complete_through,
  cast(spent as varchar) as spent, cast(forecast as varchar) as forecast, cast(low as varchar) as low,
  cast(high as varchar) as high, cast(amount as varchar) as amount, cast(exceeds_on as varchar) as exceeds_on, reason
from forecasts
where complete_through >= cast($from as timestamp);
