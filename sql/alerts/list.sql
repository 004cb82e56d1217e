--! about: Every occurrence of every alert, or only open ones: open ones first, by severity, then newest first.
select
  alert_key, occurrence, kind, account, severity, is_open, ending,
  strftime(raised_at, '%Y-%m-%dT%H:%M:%SZ') as raised_at,
  strftime(open_since, '%Y-%m-%dT%H:%M:%SZ') as open_since, strftime(ended_at, '%Y-%m-%dT%H:%M:%SZ') as ended_at,
  strftime(acknowledged_until, '%Y-%m-%dT%H:%M:%SZ') as acknowledged_until,
  strftime(last_delivered_at, '%Y-%m-%dT%H:%M:%SZ') as last_delivered_at,
  cast(pending_messages as integer) as pending_messages, cast(dead_messages as integer) as dead_messages,
  (
    select string_agg(distinct outbox.sink, ', ' order by outbox.sink)
    from ledger.outbox as outbox
    where outbox.kind = 'alerts'
      and outbox.outcome is null
      and list_contains(cast(from_json(outbox.message -> '$.entries[*].key', '["VARCHAR"]') as varchar[]), alerts.alert_key)
  ) as pending_sinks,
  sinks, fact
from alerts
where is_open or not $open_only
order by
  is_open desc,
  case when is_open then case severity when 'critical' then 0 when 'warning' then 1 else 2 end end,
  coalesce(alerts.ended_at, alerts.raised_at) desc, alert_key, occurrence desc;
