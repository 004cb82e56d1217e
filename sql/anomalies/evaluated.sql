--! about: Through when the days of each account were looked at.
--! grain: account
select account, epoch_ms(max(evaluated_through)) as evaluated_through
from ledger.anomaly_evaluations
group by account
order by account
