--! about: What was not as usual this month: how much against what was expected, since when, who drives it, and did price or usage move?
--! grain: account, first_day, workspace, resource_type, billing_dimension, kind
--! params: month month = last-complete, account text = *, workspace text = *
--! formats: csv, parquet
--! kept: anomalies
-- Those are told of which a day lies in the month, as far as somebody was to be told of them: "costbook alert" finds them.
with bounds as (
  select cast($month as date) as month_start, cast($month as date) + interval 1 month as month_end
)
select
  anomalies.account,
  anomalies.first_day,
  anomalies.workspace,
  anomalies.resource_type,
  anomalies.billing_dimension,
  anomalies.kind,
  anomalies.is_up,
  anomalies.state,
  anomalies.severity,
  anomalies.last_day,
  anomalies.first_hour,
  anomalies.cost,
  anomalies.expected,
  anomalies.expected_low,
  anomalies.expected_high,
  anomalies.impact,
  anomalies.moved,
  anomalies.price_effect,
  anomalies.volume_effect,
  anomalies.driver,
  anomalies.driver_part,
  anomalies.drivers,
  anomalies.anomaly_key
from anomalies
cross join bounds
where anomalies.is_told
  and anomalies.state <> 'restated'
  and anomalies.first_day < bounds.month_end
  and anomalies.last_day >= bounds.month_start
  and ($account is null or anomalies.account = $account)
  and ($workspace is null or anomalies.workspace = $workspace)
