--! about: Every message to a sink, and its delivery.
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
  outbox.message_number,
  outbox.message_id,
  outbox.sink,
  outbox.kind,
  outbox.summary,
  outbox.queued_at,
  coalesce(outbox.outcome, 'pending') as outcome,
  outbox.ended_at,
  coalesce(attempts.runs, 0) as runs,
  coalesce(attempts.tries, 0) as tries,
  attempts.last_tried_at,
  nullif(attempts.reason, '') as reason,
  outbox.message,
  outbox.run_number
from ledger.outbox as outbox
left join attempts using (message_number);
comment on view messages is 'Messages to sinks and their delivery: alerts and summaries';
comment on column messages.message_number is 'Number of the message, ascending; a sink gets its messages in this order';
comment on column messages.message_id is 'ID that every attempt of the message carries, so that a receiver can detect repeats';
comment on column messages.sink is 'Name of the receiving sink in costbook.yaml';
comment on column messages.kind is 'alerts or summary';
comment on column messages.summary is 'Name of the summary; null for alerts';
comment on column messages.queued_at is 'When the message was queued, UTC';
comment on column messages.outcome is 'pending, delivered, or dead: Costbook gave up sending it';
comment on column messages.ended_at is 'When the sink accepted the message, or when Costbook gave it up, UTC';
comment on column messages.runs is 'Number of runs that tried to send it';
comment on column messages.tries is 'Attempts in total';
comment on column messages.last_tried_at is 'When the last attempt was made, UTC; null if there was none';
comment on column messages.reason is 'Why the last attempt failed, or what an agent, job or model answered; null if neither';
comment on column messages.message is 'Content of the message, as JSON';
comment on column messages.run_number is 'Run that queued the message';
