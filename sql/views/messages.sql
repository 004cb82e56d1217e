--! about: Messages to sinks and their delivery: alerts and summaries.
--! grain: message_number
create or replace view messages as
with attempts as (
  select
    message_number,
    count(*) as runs,
    cast(sum(coalesce(tries, 1)) as bigint) as tries,
    max(began_at) as last_tried_at,
    arg_max(coalesce(reason, ''), run_number) as reason
  from ledger.deliveries
  group by message_number
)
select
  outbox.message_number, --: Number of the message, ascending; a sink gets its messages in this order
  outbox.message_id, --: ID that every attempt of the message carries, so that a receiver can detect repeats
  outbox.sink, --: Name of the receiving sink in costbook.yaml
  outbox.kind, --: alerts or summary
  outbox.summary, --: Name of the summary; null for alerts
  outbox.queued_at, --: When the message was queued, UTC
  coalesce(outbox.outcome, 'pending') as outcome, --: pending, delivered, or dead: Costbook gave up sending it
  outbox.ended_at, --: When the sink accepted the message, or when Costbook gave it up, UTC
  coalesce(attempts.runs, 0) as runs, --: Number of runs that tried to send it
  coalesce(attempts.tries, 0) as tries, --: Attempts in total
  attempts.last_tried_at, --: When the last attempt was made, UTC; null if there was none
  nullif(attempts.reason, '') as reason, --: Why the last attempt failed, or what an agent, job or model answered; null if neither
  outbox.message, --: Content of the message, as JSON
  outbox.run_number --: Run that queued the message
from ledger.outbox as outbox
left join attempts using (message_number);
