--! about: Unusual daily costs of a workspace, resource type and billing dimension.
--! grain: anomaly_key
--! cost: cost
--! version: 1
select
  anomaly_key,
  account,
  workspace,
  resource_type,
  billing_dimension,
  kind,
  is_up,
  state,
  severity,
  first_day,
  last_day,
  ended_day,
  first_hour,
  cost,
  expected,
  expected_low,
  expected_high,
  impact,
  moved,
  price_effect,
  volume_effect,
  driver,
  driver_part,
  drivers,
  deployments,
  is_notified,
  recorded_at,
  run_number
from anomalies
order by anomaly_key
