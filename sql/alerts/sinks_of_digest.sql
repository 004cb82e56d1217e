--! about: The sinks that a digest of this name was queued for.
select distinct sink from ledger.outbox where digest = $digest order by sink;
