--! about: The sinks that a summary of this name was queued for.
select distinct sink from ledger.outbox where summary = $summary order by sink;
