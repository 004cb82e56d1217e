--! about: The last occurrence of every alert, with its active acknowledgement.
select
  alerts.alert_key, alerts.occurrence, alerts.ended_at is null as is_open, alerts.is_notified, alerts.fact, alerts.sinks,
  alerts.ending,
  -- Its story starts with the first occurrence that supersedes no other.
  (
    select epoch_ms(max(first.raised_at))
    from ledger.alerts as first
    where first.alert_key = alerts.alert_key
      and not exists (
        from ledger.alerts as before
        where before.alert_key = first.alert_key
          and before.occurrence = first.occurrence - 1
          and before.ending = 'superseded'
      )
  ) as raised_at,
  epoch_ms(acknowledgements.until_at) as acknowledged_until
from ledger.alerts as alerts
left join ledger.acknowledgements as acknowledgements
  on acknowledgements.alert_key = alerts.alert_key and acknowledgements.ended_at is null
qualify row_number() over (partition by alerts.alert_key order by alerts.occurrence desc) = 1
order by alerts.alert_key;
