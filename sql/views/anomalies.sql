--! about: What was not as usual in the costs of a workspace's resource type along a billing dimension.
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
  is_notified,
  recorded_at,
  run_number
from ledger.anomalies
where replaced_at is null;
comment on view anomalies is 'What was not as usual in the daily costs of a workspace''s resource type along a billing dimension, as far as "costbook alert" looked';
comment on column anomalies.anomaly_key is 'Key of the anomaly, and of the alert that tells it';
comment on column anomalies.account is 'Account that pays';
comment on column anomalies.workspace is 'Workspace; null where the cost belongs to none or the token may not see it';
comment on column anomalies.resource_type is 'Resource type as the platform names it';
comment on column anomalies.billing_dimension is 'What is billed';
comment on column anomalies.kind is 'spike: dearer. step: dearer or cheaper, and it stays so. drop: nothing any more of what cost something every day. new: costs where there were none. price: a unit costs another amount. dip: cheaper, and told to nobody while it may be a holiday';
comment on column anomalies.is_up is 'Whether it is dearer than expected';
comment on column anomalies.state is 'open. over: as before again. usual: it stayed until it was what is expected. grown: nobody was notified of it, and it became another one that is reported by itself. restated: the platform changed the numbers and nothing is left of it';
comment on column anomalies.severity is 'info, warning or critical: by what it costs a day more than usual, and by its total so far';
comment on column anomalies.first_day is 'First UTC day that was not as usual';
comment on column anomalies.last_day is 'Last day so far that was not';
comment on column anomalies.ended_day is 'Day with whose completion its end was known; null while it is open';
comment on column anomalies.first_hour is 'From about which hour on, UTC; null where it is told to nobody';
comment on column anomalies.cost is 'USD of the first day';
comment on column anomalies.expected is 'USD that were expected of the first day: an estimate';
comment on column anomalies.expected_low is 'Between this and expected_high the day would have been as usual';
comment on column anomalies.expected_high is 'Between expected_low and this the day would have been as usual';
comment on column anomalies.impact is 'USD by which all of its days differ from what was expected of them';
comment on column anomalies.moved is 'What moved over all of its days: price, usage or both; null where that is not known';
comment on column anomalies.price_effect is 'USD of the impact that the price of a unit explains, as report price_volume splits it';
comment on column anomalies.volume_effect is 'USD of the impact that the usage explains';
comment on column anomalies.driver is 'Resource that moved most over all of its days';
comment on column anomalies.driver_part is 'Its share of the impact, in percent';
comment on column anomalies.drivers is 'The resources that moved most, a JSON array';
comment on column anomalies.is_notified is 'Whether somebody was to be told of it';
comment on column anomalies.recorded_at is 'When it was found to be so, UTC';
comment on column anomalies.run_number is 'Run that found it to be so';
