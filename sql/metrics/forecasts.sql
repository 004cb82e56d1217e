--! about: The last forecast of each budget's periods; periods without a forecast have no row.
--! grain: budget, period_start, unit
with newest as (
  select
    budget, period_start, json_extract_string(scope, '$.unit') as unit,
    max_by(struct_pack(forecast := forecast), run_number).forecast as forecast
  from ledger.forecasts
  where budget is not null
  group by budget, period_start, json_extract_string(scope, '$.unit')
)
select budget, epoch_ms(period_start) as period_start, unit, cast(forecast as varchar) as forecast
from newest
where forecast is not null
order by budget, period_start, unit
