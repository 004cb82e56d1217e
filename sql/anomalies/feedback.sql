--! about: What people said that anomalies were, oldest first.
select
  alert_key, anomaly_key, account, workspace, resource_type, billing_dimension, is_up, feedback,
  cast(first_day as varchar) as first_day, cast(last_day as varchar) as last_day,
  cast(largest_cost as varchar) as largest_cost, cast(applies_from as varchar) as applies_from,
  strftime(given_at, '%Y-%m-%dT%H:%M:%SZ') as given_at
from ledger.alert_feedback
order by alert_feedback.given_at, run_number, anomaly_key
