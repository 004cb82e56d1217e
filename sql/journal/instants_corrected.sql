--! about: Instants after $after were written under a fast clock: moves them back by $shift_ms, but not before
--! about: $not_before. Instants from the landing folder stay as they are: loads are ordered by number.
set variable false_after = cast($after as timestamp);

set variable shift_back = to_milliseconds(cast($shift_ms as bigint));

set variable not_before = cast($not_before as timestamp);

create or replace temporary macro corrected(written) as
  case
    when written > getvariable('false_after') then greatest(written - getvariable('shift_back'), getvariable('not_before'))
    else written
  end;

update ledger.accounts
set recorded_at = corrected(recorded_at), replaced_at = corrected(replaced_at)
where greatest(recorded_at, replaced_at) > getvariable('false_after');

update ledger.claims_corrected set recorded_at = corrected(recorded_at)
where recorded_at > getvariable('false_after');

update ledger.reconciliation set proven_at = corrected(proven_at)
where load_number is null and proven_at > getvariable('false_after');

update ledger.unproven set seen_at = corrected(seen_at)
where seen_at > getvariable('false_after');

update ledger.contradictions set seen_at = corrected(seen_at)
where seen_at > getvariable('false_after');

update ledger.closes
set closed_at = corrected(closed_at), reopened_at = corrected(reopened_at)
where greatest(closed_at, reopened_at) > getvariable('false_after');

update ledger.closed_units set closed_at = corrected(closed_at)
where closed_at > getvariable('false_after');

update ledger.resources
set
  recorded_at = corrected(recorded_at),
  ended_at = corrected(ended_at),
  valid_from = corrected(valid_from),
  valid_to = corrected(valid_to)
where greatest(recorded_at, ended_at, valid_from, valid_to) > getvariable('false_after');

update ledger.listings set read_at = corrected(read_at)
where read_at > getvariable('false_after');

update ledger.allocations
set recorded_at = corrected(recorded_at), replaced_at = corrected(replaced_at)
where greatest(recorded_at, replaced_at) > getvariable('false_after');

update ledger.alerts
set raised_at = corrected(raised_at), ended_at = corrected(ended_at)
where greatest(raised_at, ended_at) > getvariable('false_after');

update ledger.anomalies
set recorded_at = corrected(recorded_at), replaced_at = corrected(replaced_at)
where greatest(recorded_at, replaced_at) > getvariable('false_after');

update ledger.anomaly_evaluations set recorded_at = corrected(recorded_at)
where recorded_at > getvariable('false_after');

update ledger.acknowledgements
set acknowledged_at = corrected(acknowledged_at), ended_at = corrected(ended_at)
where greatest(acknowledged_at, ended_at) > getvariable('false_after');

update ledger.outbox
set queued_at = corrected(queued_at), ended_at = corrected(ended_at)
where greatest(queued_at, ended_at) > getvariable('false_after');

update ledger.deliveries
set began_at = corrected(began_at), ended_at = corrected(ended_at)
where greatest(began_at, ended_at) > getvariable('false_after');

update ledger.forecasts set made_at = corrected(made_at)
where made_at > getvariable('false_after');

update ledger.runs
set started_at = corrected(started_at), ended_at = corrected(ended_at)
where greatest(started_at, ended_at) > getvariable('false_after');

update ledger.steps
set started_at = corrected(started_at), ended_at = corrected(ended_at)
where greatest(started_at, ended_at) > getvariable('false_after');

-- A slot in the future was not run: it still has to run when it comes.
update ledger.job_runs set slot = null
where slot > getvariable('false_after');

drop macro corrected;
