--! about: Through when the days of each account were looked at, the first time and the last time.
--! grain: account
select
  account,
  epoch_ms(min(evaluated_through)) as first_through,
  epoch_ms(max(evaluated_through)) as evaluated_through
from ledger.anomaly_evaluations
group by account
order by account
