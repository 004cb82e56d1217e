--! about: Messages that are not delivered yet, in order: since when runs have tried to send to their sinks, without a gap of
--! about: gap_days (also one back: the clock may have jumped), when each was tried last, and whether an earlier run may have
--! about: delivered it.
with tries as (
  select
    outbox.sink, deliveries.message_number, deliveries.run_number, deliveries.outcome,
    epoch_ms(deliveries.began_at) as tried_at,
    epoch_ms(lag(deliveries.began_at) over (
      partition by outbox.sink order by deliveries.run_number, deliveries.message_number
    )) as tried_before
  from ledger.deliveries
  inner join ledger.outbox using (message_number)
),
sinks as (
  select
    sink,
    arg_max(tried_at, run_number) filter (
      tried_before is null or abs(tried_at - tried_before) >= $gap_days::bigint * 86400000
    ) as tried_since
  from tries
  group by sink
),
tried as (
  select
    message_number,
    arg_max(tried_at, run_number) as last_tried_at,
    coalesce(bool_or(outcome is null or outcome = 'unknown'), false) as may_be_repeat
  from tries
  group by message_number
)
select
  outbox.message_number, outbox.message_id, outbox.sink, outbox.kind, outbox.summary, outbox.message,
  epoch_ms(outbox.queued_at) as queued_at, sinks.tried_since, tried.last_tried_at,
  coalesce(tried.may_be_repeat, false) as may_be_repeat
from ledger.outbox as outbox
left join tried using (message_number)
left join sinks using (sink)
where outbox.outcome is null
order by outbox.message_number;
