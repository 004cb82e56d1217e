--! about: Somebody said what an anomaly was: a row for each of its parts.
insert into ledger.alert_feedback
select
  $alert_key, anomaly_key, account, workspace, resource_type, billing_dimension, is_up, $feedback, cast(first_day as date),
  cast(last_day as date), cast(largest_cost as decimal(38, 12)), cast(applies_from as date), cast($run_number as bigint),
  cast($given_at as timestamp)
from rows_in(
  $anomalies,
  '[{
    "anomaly_key": "VARCHAR", "account": "VARCHAR", "workspace": "VARCHAR", "resource_type": "VARCHAR",
    "billing_dimension": "VARCHAR", "is_up": "BOOLEAN", "first_day": "VARCHAR", "last_day": "VARCHAR",
    "largest_cost": "VARCHAR", "applies_from": "VARCHAR"
  }]'
);
