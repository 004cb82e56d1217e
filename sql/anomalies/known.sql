--! about: Known anomalies of the days from $from on, and all open ones.
--! grain: anomaly_key
select
  anomaly_key, account, workspace, resource_type, billing_dimension, kind, is_up, cast(first_day as varchar) as first_day,
  cast(seen_day as varchar) as seen_day, cast(last_day as varchar) as last_day, cast(notified_day as varchar) as notified_day,
  state, cast(ended_day as varchar) as ended_day, cast(cost as varchar) as cost, cast(expected as varchar) as expected,
  cast(expected_low as varchar) as expected_low, cast(expected_high as varchar) as expected_high,
  cast(impact as varchar) as impact, price_ratio, severity, is_notified, detail
from ledger.anomalies
where replaced_at is null
  and (state = 'open' or coalesce(ended_day, last_day) >= cast($from as date))
order by anomaly_key
