--! about: Complete through at the last forecast, and the earliest end of a period forecast then.
select
  epoch_ms(max(complete_through)) as complete_through,
  epoch_ms(min(period_end)) as first_end
from ledger.forecasts
