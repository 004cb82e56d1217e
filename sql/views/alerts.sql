--! about: Alerts, one row for each time that an alert was raised.
--! grain: alert_key, occurrence
create or replace view alerts as
with starts as (
  -- An occurrence that supersedes another one continues its story.
  select
    alert_key,
    occurrence,
    case
      when lag(ending) over (partition by alert_key order by occurrence) is distinct from 'superseded' then raised_at
    end as started_at
  from ledger.alerts
),
stories as (
  select
    alert_key,
    occurrence,
    last_value(started_at ignore nulls) over (
      partition by alert_key order by occurrence rows between unbounded preceding and current row
    ) as open_since
  from starts
),
messages as (
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
  alerts.alert_key, --: Kind, account and further details that identify the alert; the same at every evaluation
  alerts.occurrence, --: 1 for the first time that this key was raised, 2 for the second, and so on
  alerts.kind, --: Subject: anomaly, budget, stale, clock, unproven, check, run, books, listings, closed_month or dimension
  alerts.account, --: Account that the alert concerns; null if it concerns several or none
  alerts.severity, --: info, warning or critical
  alerts.ended_at is null as is_open, --: Whether the alert still applies
  alerts.raised_at, --: When the alert was raised, UTC
  stories.open_since, --: When its story started, UTC: the first time that it was raised without a break. An alert with news is raised again
  alerts.ended_at, --: When the alert ended, UTC; null while it is open
  alerts.ending, --: resolved: the cause is gone. superseded: raised again with other numbers. withdrawn: it is no longer evaluated, such as after its budget was removed. lapsed: its period is long over. reached: the forecast amount has been spent, which another alert reports
  acknowledgements.until_at as acknowledged_until, --: No notification is sent before this instant, UTC; null if nobody acknowledged the alert
  messages.last_delivered_at, --: When a sink last accepted a message about the alert, UTC; null if none has
  coalesce(messages.pending_messages, 0) as pending_messages, --: Messages about the alert that no sink has accepted yet
  coalesce(messages.dead_messages, 0) as dead_messages, --: Messages about the alert that Costbook gave up sending
  alerts.sinks, --: Names of the sinks that are notified, a JSON array
  alerts.fact, --: What the alert reports, as JSON
  alerts.run_number --: Run that raised the alert
from ledger.alerts as alerts
join stories on stories.alert_key = alerts.alert_key and stories.occurrence = alerts.occurrence
left join ledger.acknowledgements as acknowledgements
  on acknowledgements.alert_key = alerts.alert_key
  and acknowledgements.ended_at is null
  and alerts.ended_at is null
left join messages
  on messages.alert_key = alerts.alert_key and messages.occurrence = alerts.occurrence;
