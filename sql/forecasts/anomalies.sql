--! about: The anomalies of the days from $from on. With $with_earlier also their earlier states: each was known from
--! about: recorded_at until replaced_at.
select
  anomaly_key, account, workspace, resource_type, billing_dimension, kind, is_up, cast(first_day as varchar) as first_day,
  cast(seen_day as varchar) as seen_day, cast(last_day as varchar) as last_day, cast(notified_day as varchar) as notified_day,
  state, cast(ended_day as varchar) as ended_day, cast(cost as varchar) as cost, cast(expected as varchar) as expected,
  cast(expected_low as varchar) as expected_low, cast(expected_high as varchar) as expected_high,
  cast(impact as varchar) as impact, price_ratio, severity, is_notified, detail,
  epoch_ms(recorded_at) as recorded_at, epoch_ms(replaced_at) as replaced_at
from ledger.anomalies
where last_day >= cast($from as date) and (replaced_at is null or $with_earlier)
order by anomaly_key, anomalies.recorded_at
