--! about: The sinks that a summary of this name was queued for, and the last run that did it.
select sink, max(run_number) as run_number from ledger.outbox where summary = $summary group by sink order by sink;
