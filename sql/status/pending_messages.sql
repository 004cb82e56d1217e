--! about: The messages that are not yet delivered, by sink, with the last reason.
--! grain: sink
select
  sink,
  count(*) as messages,
  strftime(min(queued_at), '%Y-%m-%dT%H:%M:%SZ') as since,
  arg_max(reason, message_number) filter (reason is not null) as reason
from messages
where outcome = 'pending'
group by sink
order by sink;
