--! about: Which costs are unusual, recently or in a month: since when, how far from the expected cost, and what drives them?
--! for: teams
--! grain: account, first_day, workspace, resource_type, billing_dimension, kind
--! params: month month = none, account text = *, workspace text = *
--! evaluated: anomalies
--! top: first_day
--! important: severity, workspace, resource_type, first_day, impact, driver, state,
--! important: cost, expected, billing_dimension, last_day, account
-- Lists anomalies with a day in the month that were worth a notification; "costbook alert" finds them. Without a month,
-- lists open anomalies and those of the last five weeks before the books' last complete hour.
with bounds as (
  select
    coalesce(cast($month as date), max(complete_through) - interval 35 days) as first_time,
    cast($month as date) + interval 1 month as month_end
  from accounts
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
  anomalies.anomaly_key,
  anomalies.deployments,
  anomalies.excluded_reason
from anomalies
cross join bounds
where anomalies.is_notified
  and anomalies.state <> 'restated'
  and (bounds.month_end is null or anomalies.first_day < bounds.month_end)
  and (anomalies.last_day >= bounds.first_time or (bounds.month_end is null and anomalies.state = 'open'))
  and ($account is null or anomalies.account = $account)
  and ($workspace is null or anomalies.workspace = $workspace)
