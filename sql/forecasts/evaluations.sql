--! about: Through when the anomalies of each account were evaluated, and when. Without $with_earlier only the last time.
select account, epoch_ms(evaluated_through) as evaluated_through, epoch_ms(recorded_at) as recorded_at
from ledger.anomaly_evaluations
qualify
  $with_earlier
  or row_number() over (
    partition by account order by anomaly_evaluations.evaluated_through desc, anomaly_evaluations.recorded_at desc
  ) = 1
order by account, anomaly_evaluations.recorded_at
