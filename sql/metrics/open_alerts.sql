--! about: How many alerts are open; no row until alerts have been evaluated once, because nothing is known before.
--! grain: severity
with severities as (
  select unnest(['info', 'warning', 'critical']) as severity
)
select severities.severity, count(alerts.alert_key) as alerts
from severities
left join ledger.alerts as alerts on alerts.severity = severities.severity and alerts.ended_at is null
where exists (select 1 from ledger.runs where command = 'alert' and outcome <> 'running')
  or exists (select 1 from ledger.steps where step = 'alert' and outcome in ('done', 'failed'))
  or exists (select 1 from ledger.alerts)
group by severities.severity
order by severities.severity
