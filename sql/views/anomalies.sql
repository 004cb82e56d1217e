--! about: Unusual daily costs of a workspace, resource type and billing dimension.
--! grain: anomaly_key
create or replace view anomalies as
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
  cast(json_extract_string(detail, '$.firstHour') as timestamp) as first_hour,
  cost,
  expected,
  expected_low,
  expected_high,
  impact,
  json_extract_string(detail, '$.moved') as moved,
  cast(json_extract_string(detail, '$.priceEffect') as decimal(38, 12)) as price_effect,
  cast(json_extract_string(detail, '$.volumeEffect') as decimal(38, 12)) as volume_effect,
  json_extract_string(detail, '$.drivers[0].resourceName') as driver,
  cast(json_extract_string(detail, '$.drivers[0].part') as decimal(18, 1)) as driver_part,
  cast(json_extract(detail, '$.drivers') as varchar) as drivers,
  cast(json_extract(detail, '$.deployments') as varchar) as deployments,
  is_notified,
  recorded_at,
  run_number
from ledger.anomalies
where replaced_at is null;
comment on view anomalies is 'Unusual daily costs of a workspace, resource type and billing dimension. Only days that costbook alert has evaluated are included';
comment on column anomalies.anomaly_key is 'Key of the anomaly and of its alert';
comment on column anomalies.account is 'Billing account';
comment on column anomalies.workspace is 'Workspace; null if the cost belongs to none, or if the token has no access to workspaces';
comment on column anomalies.resource_type is 'Resource type, as the platform names it';
comment on column anomalies.billing_dimension is 'Billing dimension: what is metered and priced';
comment on column anomalies.kind is 'spike: higher for some days. step: higher or lower, and it stays there. drop: a daily cost stopped. new: costs where there were none. price: the price of a unit changed. dip: lower; nobody is notified while it may be a holiday';
comment on column anomalies.is_up is 'Whether the cost is higher than expected';
comment on column anomalies.state is 'open: still unusual. over: back to the earlier level. usual: it lasted until it became the expected level. grown: nobody was notified, and it became another anomaly that is reported separately. restated: the numbers or the role of the token changed, and the anomaly is gone';
comment on column anomalies.severity is 'info, warning or critical, by the extra cost per day and by the total so far';
comment on column anomalies.first_day is 'First unusual day, UTC';
comment on column anomalies.last_day is 'Last unusual day so far, UTC';
comment on column anomalies.ended_day is 'Day whose costs showed that the anomaly had ended, UTC; null while it is open';
comment on column anomalies.first_hour is 'Hour in which it started, an estimate, UTC; null if nobody is notified of it';
comment on column anomalies.cost is 'Cost of the first day in USD';
comment on column anomalies.expected is 'Expected cost of the first day in USD, an estimate';
comment on column anomalies.expected_low is 'Lower end of the usual range of the first day, USD';
comment on column anomalies.expected_high is 'Upper end of the usual range of the first day, USD';
comment on column anomalies.impact is 'Difference from the expected cost over all days of the anomaly, USD';
comment on column anomalies.moved is 'What changed over all days of the anomaly: price, usage or both; null if unknown';
comment on column anomalies.price_effect is 'Part of the impact that the change in unit price explains, USD; split as in report price_volume';
comment on column anomalies.volume_effect is 'Part of the impact that the change in usage explains, USD';
comment on column anomalies.driver is 'Resource with the largest change over all days of the anomaly';
comment on column anomalies.driver_part is 'Share of the driver in the impact, percent';
comment on column anomalies.drivers is 'Resources with the largest changes, a JSON array';
comment on column anomalies.deployments is 'What was deployed or changed of the drivers in the 48 hours before first_hour, most relevant first, at most ten, a JSON array; null if not known. Nothing says that it is the cause';
comment on column anomalies.is_notified is 'Whether the anomaly calls for a notification';
comment on column anomalies.recorded_at is 'When this state was recorded, UTC';
comment on column anomalies.run_number is 'Run that recorded this state';
