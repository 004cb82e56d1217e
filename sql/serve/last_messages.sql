--! about: Messages to sinks, newest first, and what became of them: $rows of them, or all; all_rows says how many there are.
select
  sink,
  kind,
  summary,
  outcome,
  strftime(queued_at, '%Y-%m-%dT%H:%M:%SZ') as queued_at,
  strftime(ended_at, '%Y-%m-%dT%H:%M:%SZ') as ended_at,
  tries,
  reason,
  (select count(*) from messages) as all_rows
from messages
order by message_number desc
limit cast($rows as bigint);
