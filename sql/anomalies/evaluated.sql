--! about: The last day evaluated in each account, in the first and in the latest evaluation.
--! grain: account
select
  account,
  epoch_ms(min(evaluated_through)) as first_through,
  epoch_ms(max(evaluated_through)) as evaluated_through
from ledger.anomaly_evaluations
group by account
order by account
