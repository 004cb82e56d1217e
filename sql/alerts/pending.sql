--! about: Messages that are not delivered yet, in order, since when each was tried and when last, and whether an earlier run may
--! about: have delivered them. A gap of gap_days begins anew, also one back: the clock may have jumped.
with tries as (
  select
    message_number, run_number, outcome,
    epoch_ms(began_at) as tried_at,
    epoch_ms(lag(began_at) over (partition by message_number order by run_number)) as tried_before
  from ledger.deliveries
),
tried as (
  select
    message_number,
    arg_max(tried_at, run_number) filter (
      tried_before is null or abs(tried_at - tried_before) >= $gap_days::bigint * 86400000
    ) as tried_since,
    arg_max(tried_at, run_number) as last_tried_at,
    coalesce(bool_or(outcome is null or outcome = 'unknown'), false) as may_be_repeat
  from tries
  group by message_number
)
select
  outbox.message_number, outbox.message_id, outbox.sink, outbox.kind, outbox.summary, outbox.message,
  epoch_ms(outbox.queued_at) as queued_at, tried.tried_since, tried.last_tried_at,
  coalesce(tried.may_be_repeat, false) as may_be_repeat
from ledger.outbox as outbox
left join tried using (message_number)
where outbox.outcome is null
order by outbox.message_number;
