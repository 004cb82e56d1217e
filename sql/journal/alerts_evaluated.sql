--! about: The result of an evaluation: alerts that ended, alerts that were raised, what alerts that stay open report now,
--! about: acknowledgements that ended, and the messages about them.
update ledger.alerts
set ending = ended.ending, end_fact = ended.fact, ended_at = cast($at as timestamp)
from rows_in(
  $ended, '[{"alert_key": "VARCHAR", "occurrence": "INTEGER", "ending": "VARCHAR", "fact": "VARCHAR"}]'
) as ended
where alerts.alert_key = ended.alert_key and alerts.occurrence = ended.occurrence;

-- Raised earlier, but its sink is notified only now: the alert was acknowledged, or the sink did not exist yet. Events
-- of older versions have no sinks here.
update ledger.alerts
set is_notified = true, sinks = coalesce(notified.sinks, alerts.sinks)
from rows_in($notified, '[{"alert_key": "VARCHAR", "occurrence": "INTEGER", "sinks": "VARCHAR"}]') as notified
where alerts.alert_key = notified.alert_key and alerts.occurrence = notified.occurrence;

update ledger.alerts
set fact = refreshed.fact, severity = refreshed.severity
from rows_in(
  $refreshed, '[{"alert_key": "VARCHAR", "occurrence": "INTEGER", "severity": "VARCHAR", "fact": "VARCHAR"}]'
) as refreshed
where alerts.alert_key = refreshed.alert_key and alerts.occurrence = refreshed.occurrence;

insert into ledger.alerts
select
  alert_key, occurrence, kind, account, severity, fact, sinks, is_notified, cast($run_number as bigint),
  cast($at as timestamp), null, null, null
from rows_in(
  $raised,
  '[{
    "alert_key": "VARCHAR", "occurrence": "INTEGER", "kind": "VARCHAR", "account": "VARCHAR",
    "severity": "VARCHAR", "fact": "VARCHAR", "sinks": "VARCHAR", "is_notified": "BOOLEAN"
  }]'
);

update ledger.acknowledgements
set ended_at = cast($at as timestamp)
where ended_at is null and list_contains(cast(from_json($acknowledged, '["VARCHAR"]') as varchar[]), alert_key);

insert into ledger.outbox
select
  message_number, message_id, sink, kind, summary, message, cast($run_number as bigint), cast($at as timestamp), null,
  null
from rows_in(
  $messages,
  '[{
    "message_number": "BIGINT", "message_id": "VARCHAR", "sink": "VARCHAR", "kind": "VARCHAR", "summary": "VARCHAR",
    "message": "VARCHAR"
  }]'
);
