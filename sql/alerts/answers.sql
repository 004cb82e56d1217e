--! about: What agents, jobs and models answered to messages, oldest first. A message to one of them has at most one alert.
select
  outbox.sink,
  outbox.summary,
  outbox.message ->> '$.entries[0].key' as alert_key,
  cast(outbox.message ->> '$.entries[0].occurrence' as integer) as occurrence,
  outbox.message ->> '$.entries[0].transition' as transition,
  epoch_ms(outbox.queued_at) as queued_at,
  strftime(deliveries.ended_at, '%Y-%m-%dT%H:%M:%SZ') as answered_at,
  substr(deliveries.reason, length($prefix) + 1) as answer
from ledger.outbox as outbox
join ledger.deliveries as deliveries using (message_number)
where deliveries.outcome = 'delivered' and starts_with(deliveries.reason, $prefix)
  and epoch_ms(outbox.queued_at) >= cast($since as bigint)
order by outbox.message_number;
