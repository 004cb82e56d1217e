--! about: When the ledger last recorded anything, in milliseconds since 1970: as of that instant it equals the present.
select
  epoch_ms(
    greatest(
      (select max_by(seen_at, load_number) from ledger.loads),
      (select max(recorded_at) from ledger.accounts),
      (select max(replaced_at) from ledger.accounts),
      (select max(proven_at) from ledger.reconciliation where load_number is null),
      (select max(recorded_at) from ledger.claims_corrected),
      (select max(platform_at) from ledger.clocks),
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
      (select max(made_at) from ledger.forecasts),
      (select max(started_at) from ledger.runs),
      (select max(ended_at) from ledger.runs),
      (select max(started_at) from ledger.steps),
      (select max(ended_at) from ledger.steps)
    )
  ) as last_seen
