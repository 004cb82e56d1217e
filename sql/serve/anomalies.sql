--! about: Anomalies worth a notification, open ones first, then by money; one of them with $key or the MD5 of its key, or those that
--! about: start from $from until before $to. $rows of them, or all; all_rows says how many there are. fact: the words of its newest alert.
with chosen as (
  select *, count(*) over () as all_rows
  from anomalies
  where is_notified
    and state <> 'restated'
    and ($key is null or anomaly_key = $key)
    and ($key_md5 is null or md5(anomaly_key) = $key_md5)
    and ($from is null or first_day >= cast($from as timestamp))
    and ($to is null or first_day < cast($to as timestamp))
  order by state = 'open' desc, abs(impact) desc, anomaly_key
  limit cast($rows as bigint)
),
newest_alert as (
  select alert_key, fact
  from alerts
  semi join chosen on chosen.anomaly_key = alerts.alert_key
  where kind = 'anomaly'
  qualify row_number() over (partition by alert_key order by occurrence desc) = 1
)
select
  chosen.anomaly_key,
  chosen.account,
  chosen.workspace,
  chosen.resource_type,
  chosen.billing_dimension,
  chosen.kind,
  chosen.is_up,
  chosen.state,
  chosen.severity,
  cast(chosen.first_day as varchar) as first_day,
  cast(chosen.last_day as varchar) as last_day,
  cast(chosen.ended_day as varchar) as ended_day,
  strftime(chosen.first_hour, '%Y-%m-%dT%H:%M:%SZ') as first_hour,
  chosen.cost,
  chosen.expected,
  chosen.expected_low,
  chosen.expected_high,
  chosen.impact,
  chosen.moved,
  chosen.price_effect,
  chosen.volume_effect,
  chosen.driver,
  chosen.driver_part,
  chosen.drivers,
  chosen.deployments,
  chosen.excluded_reason,
  chosen.all_rows,
  newest_alert.fact
from chosen
left join newest_alert on newest_alert.alert_key = chosen.anomaly_key
order by chosen.state = 'open' desc, abs(chosen.impact) desc, chosen.anomaly_key;
