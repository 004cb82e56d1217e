--! about: Anomalies worth a notification, open ones first, then by money; one of them with $key or the MD5 of its key.
--! about: fact: the words of its newest alert.
with newest_alert as (
  select alert_key, fact
  from alerts
  where kind = 'anomaly'
  qualify row_number() over (partition by alert_key order by occurrence desc) = 1
)
select
  anomalies.anomaly_key,
  anomalies.account,
  anomalies.workspace,
  anomalies.resource_type,
  anomalies.billing_dimension,
  anomalies.kind,
  anomalies.is_up,
  anomalies.state,
  anomalies.severity,
  cast(anomalies.first_day as varchar) as first_day,
  cast(anomalies.last_day as varchar) as last_day,
  cast(anomalies.ended_day as varchar) as ended_day,
  strftime(anomalies.first_hour, '%Y-%m-%dT%H:%M:%SZ') as first_hour,
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
  anomalies.deployments,
  anomalies.excluded_reason,
  newest_alert.fact
from anomalies
left join newest_alert on newest_alert.alert_key = anomalies.anomaly_key
where anomalies.is_notified
  and anomalies.state <> 'restated'
  and ($key is null or anomalies.anomaly_key = $key)
  and ($key_md5 is null or md5(anomalies.anomaly_key) = $key_md5)
order by anomalies.state = 'open' desc, abs(anomalies.impact) desc, anomalies.anomaly_key;
