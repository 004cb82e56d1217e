--! about: The one list of the ledger's instants, in milliseconds since 1970. last_given is the last that the writer gave; it
--! about: gives none twice and none that is earlier. last_seen also counts what clocks said: as of it the ledger is what it is now.
select
  epoch_ms(given.last_at) as last_given,
  epoch_ms(greatest(given.last_at, clock.last_at)) as last_seen
from (
  select
    greatest(
      (select max(seen_at) from ledger.loads),
      (select max(recorded_at) from ledger.accounts),
      (select max(replaced_at) from ledger.accounts),
      (select max(proven_at) from ledger.proofs),
      (select max(recorded_at) from ledger.claims_corrected),
      (select max(closed_at) from ledger.closes),
      (select max(reopened_at) from ledger.closes),
      (select max(closed_at) from ledger.closed_units),
      (select max(recorded_at) from ledger.resources),
      (select max(ended_at) from ledger.resources),
      (select max(read_at) from ledger.listings),
      (select max(recorded_at) from ledger.allocations),
      (select max(replaced_at) from ledger.allocations),
      (select max(raised_at) from ledger.alerts),
      (select max(ended_at) from ledger.alerts),
      (select max(recorded_at) from ledger.anomalies),
      (select max(replaced_at) from ledger.anomalies),
      (select max(recorded_at) from ledger.anomaly_evaluations),
      (select max(acknowledged_at) from ledger.acknowledgements),
      (select max(ended_at) from ledger.acknowledgements),
      (select max(queued_at) from ledger.outbox),
      (select max(ended_at) from ledger.outbox),
      (select max(began_at) from ledger.deliveries),
      (select max(ended_at) from ledger.deliveries),
      (select max(made_at) from ledger.forecasts)
    ) as last_at
) as given
cross join (
  select
    greatest(
      (select max(local_at) from ledger.clocks),
      (select max(started_at) from ledger.runs),
      (select max(ended_at) from ledger.runs),
      (select max(started_at) from ledger.steps),
      (select max(ended_at) from ledger.steps)
    ) as last_at
) as clock;
