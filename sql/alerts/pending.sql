--! about: Messages that are not delivered yet, in order, when each was tried last, and whether an earlier run may have delivered
--! about: them.
with tried as (
  select
    message_number,
    max(began_at) as last_tried_at,
    coalesce(bool_or(outcome is null or outcome = 'unknown'), false) as may_be_repeat
  from ledger.deliveries
  group by message_number
)
select
  outbox.message_number, outbox.message_id, outbox.sink, outbox.kind, outbox.summary, outbox.message,
  epoch_ms(outbox.queued_at) as queued_at, epoch_ms(tried.last_tried_at) as last_tried_at,
  coalesce(tried.may_be_repeat, false) as may_be_repeat
from ledger.outbox as outbox
left join tried using (message_number)
where outbox.outcome is null
order by outbox.message_number;
