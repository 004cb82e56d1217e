--! about: Every message to a sink, with what came of it.
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
comment on view messages is 'Messages to sinks and what came of them: what tells alerts, and summaries';
comment on column messages.message_number is 'Number of the message, growing; a sink is told its messages in this order';
comment on column messages.message_id is 'Id that the message carries in every attempt: a receiver knows a repeat by it';
comment on column messages.sink is 'Sink that is told, as costbook.yaml names it';
comment on column messages.kind is 'alerts or summary';
comment on column messages.summary is 'Name of the summary; null of alerts';
comment on column messages.queued_at is 'When it was written, UTC';
comment on column messages.outcome is 'pending, delivered, or dead: given up';
comment on column messages.ended_at is 'When the sink took it, or when it was given up, UTC';
comment on column messages.runs is 'Runs that tried';
comment on column messages.tries is 'Tries in all';
comment on column messages.last_tried_at is 'When it was last tried, UTC; null where it never was';
comment on column messages.reason is 'Why the last try failed; null where none did';
comment on column messages.message is 'What is told, as JSON';
comment on column messages.run_number is 'Run that wrote it';
