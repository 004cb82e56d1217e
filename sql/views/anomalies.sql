--! about: Unusual daily costs of a workspace, resource type and billing dimension. Only days that costbook alert has
--! about: evaluated are included.
--! grain: anomaly_key
create or replace view anomalies as
select
  anomaly_key, --: Key of the anomaly and of its alert
  account,
  workspace,
  resource_type,
  billing_dimension,
  kind, --: spike: higher for some days. step: higher or lower, and it stays there. drop: a daily cost stopped. new: costs where there were none. price: the price of a unit changed. dip: lower; nobody is notified while it may be a holiday
  is_up, --: Whether the cost is higher than expected
  state, --: open: still unusual. over: back to the earlier level. usual: it lasted until it became the expected level. grown: nobody was notified, and it became another anomaly that is reported separately. restated: the numbers or the role of the token changed, and the anomaly is gone
  severity, --: info, warning or critical, by the extra cost per day and by the total so far
  first_day, --: First unusual day, UTC
  last_day, --: Last unusual day so far, UTC
  ended_day, --: Day whose costs showed that the anomaly had ended, UTC; null while it is open
  cast(json_extract_string(detail, '$.firstHour') as timestamp) as first_hour, --: Hour in which it started, an estimate, UTC; null if nobody is notified of it
  cost, --: Cost of the first day in USD
  expected, --: Expected cost of the first day in USD, an estimate
  expected_low, --: Lower end of the usual range of the first day, USD
  expected_high, --: Upper end of the usual range of the first day, USD
  impact, --: Difference from the expected cost over all days of the anomaly, USD
  json_extract_string(detail, '$.moved') as moved, --: What changed over all days of the anomaly: price, usage or both; null if unknown
  cast(json_extract_string(detail, '$.priceEffect') as decimal(38, 12)) as price_effect, --: Part of the impact that the change in unit price explains, USD; split as in report price_volume
  cast(json_extract_string(detail, '$.volumeEffect') as decimal(38, 12)) as volume_effect, --: Part of the impact that the change in usage explains, USD
  json_extract_string(detail, '$.drivers[0].resourceName') as driver, --: Resource with the largest change over all days of the anomaly
  cast(json_extract_string(detail, '$.drivers[0].part') as decimal(18, 1)) as driver_part, --: Share of the driver in the impact, percent
  cast(json_extract(detail, '$.drivers') as varchar) as drivers, --: Resources with the largest changes, a JSON array
  cast(json_extract(detail, '$.deployments') as varchar) as deployments, --: What was deployed or changed of the drivers in the 48 hours before first_hour, most relevant first, at most ten, a JSON array; null if not known. Nothing says that it is the cause
  json_extract_string(detail, '$.excluded.reason') as excluded_reason, --: Reason of the exclusion in jobs/budgets.yaml that covers it, so that no alert is sent; null without
  is_notified, --: Whether the anomaly calls for a notification
  recorded_at, --: When this state was recorded, UTC
  run_number --: Run that recorded this state
from ledger.anomalies
where replaced_at is null;
