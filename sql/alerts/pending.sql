--! about: Messages that are not delivered yet, in order, and whether an earlier run may have delivered them.
with uncertain as (
  select distinct message_number
  from ledger.deliveries
  where outcome is null or outcome = 'unknown'
)
select
  outbox.message_number, outbox.message_id, outbox.sink, outbox.kind, outbox.summary, outbox.message,
  epoch_ms(outbox.queued_at) as queued_at, uncertain.message_number is not null as may_be_repeat
from ledger.outbox as outbox
left join uncertain using (message_number)
where outbox.outcome is null
order by outbox.message_number;
