--! about: The last occurrence of every alert, with its active acknowledgement.
select
  alerts.alert_key, alerts.occurrence, alerts.ended_at is null as is_open, alerts.is_notified, alerts.fact, alerts.sinks,
  epoch_ms(alerts.raised_at) as raised_at,
  epoch_ms(acknowledgements.until_at) as acknowledged_until
from ledger.alerts as alerts
left join ledger.acknowledgements as acknowledgements
  on acknowledgements.alert_key = alerts.alert_key and acknowledgements.ended_at is null
qualify row_number() over (partition by alerts.alert_key order by alerts.occurrence desc) = 1
order by alerts.alert_key;
