--! about: Every alert, a row for each time that it was raised.
--! grain: alert_key, occurrence
create or replace view alerts as
with messages as (
  select
    entry.key as alert_key,
    cast(entry.occurrence as integer) as occurrence,
    max(case when outbox.outcome = 'delivered' then outbox.ended_at end) as last_delivered_at,
    count(*) filter (outbox.outcome is null) as pending_messages,
    count(*) filter (outbox.outcome = 'dead') as dead_messages
  from ledger.outbox as outbox
  cross join unnest(
    from_json(outbox.message -> '$.entries', '[{"key": "VARCHAR", "occurrence": "INTEGER"}]')
  ) as entries (entry)
  where outbox.kind = 'alerts'
  group by entry.key, entry.occurrence
)
select
  alerts.alert_key,
  alerts.occurrence,
  alerts.kind,
  alerts.account,
  alerts.severity,
  alerts.ended_at is null as is_open,
  alerts.raised_at,
  alerts.ended_at,
  alerts.ending,
  acknowledgements.until_at as acknowledged_until,
  messages.last_delivered_at,
  coalesce(messages.pending_messages, 0) as pending_messages,
  coalesce(messages.dead_messages, 0) as dead_messages,
  alerts.sinks,
  alerts.fact,
  alerts.run_number
from ledger.alerts as alerts
left join ledger.acknowledgements as acknowledgements
  on acknowledgements.alert_key = alerts.alert_key
  and acknowledgements.ended_at is null
  and alerts.ended_at is null
left join messages
  on messages.alert_key = alerts.alert_key and messages.occurrence = alerts.occurrence;
comment on view alerts is 'Alerts: facts that somebody must hear once, one row each time that one was raised';
comment on column alerts.alert_key is 'Kind, account and what else tells the alert apart; the same whenever it is evaluated';
comment on column alerts.occurrence is 'The how many-th time that this key was raised';
comment on column alerts.kind is 'What it is about: anomaly, budget, stale, clock, unproven, check, run, books, closed_month or dimension';
comment on column alerts.account is 'Account that it is about; null where it is about several, or about none';
comment on column alerts.severity is 'info, warning or critical';
comment on column alerts.is_open is 'Whether what it says still holds';
comment on column alerts.raised_at is 'When it was raised, UTC';
comment on column alerts.ended_at is 'When it ended, UTC; null while it is open';
comment on column alerts.ending is 'resolved: it is over. superseded: raised again with other numbers. withdrawn: nobody asks for it any more. lapsed: its period is long over. reached: what was forecast was spent, which another alert tells';
comment on column alerts.acknowledged_until is 'Until when nothing is told of it, UTC; null where nobody acknowledged it';
comment on column alerts.last_delivered_at is 'When a sink last took a message about it, UTC; null where none has yet';
comment on column alerts.pending_messages is 'Messages about it that no sink took yet';
comment on column alerts.dead_messages is 'Messages about it that were given up';
comment on column alerts.sinks is 'Who is told, a JSON array of names';
comment on column alerts.fact is 'What it says, as JSON';
comment on column alerts.run_number is 'Run that raised it';
