--! about: Messages that each sink has not received yet, and those that were given up.
--! grain: sink
select
  sink,
  count(*) filter (outcome is null) as pending,
  count(*) filter (outcome = 'dead') as dead,
  epoch_ms(min(queued_at) filter (outcome is null)) as oldest_pending
from ledger.outbox
group by sink
order by sink
