--! about: The messages of alerts by sink, newest first, and what became of them.
select
  sink,
  kind,
  summary,
  outcome,
  strftime(queued_at, '%Y-%m-%dT%H:%M:%SZ') as queued_at,
  strftime(ended_at, '%Y-%m-%dT%H:%M:%SZ') as ended_at,
  tries,
  reason
from messages
order by message_number desc;
