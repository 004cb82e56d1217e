--! about: Through when the books were complete when something was forecast last, and the first end of a period that was.
select
  epoch_ms(max(complete_through)) as complete_through,
  epoch_ms(min(period_end)) as first_end
from ledger.forecasts
