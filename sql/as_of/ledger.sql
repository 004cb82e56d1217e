--! about: The ledger as of the instant in instant.sql, over the file attached as present: the tables of the migrations
--! about: under their own names, so that the public views and reports work on it unchanged.
create schema ledger;

-- A row is written only when its value changes. So rows of later loads are excluded, and the values that they replaced
-- come from the restatements, with the load that had written them.
create view ledger.hourly_costs as
select series_id, bucket_start, cost, usage, load_number
from present.ledger.hourly_costs
where load_number <= getvariable('as_of_load')
union all
select series_id, bucket_start, old_cost, old_usage, old_load_number
from present.ledger.restatements
where load_number > getvariable('as_of_load') and old_load_number <= getvariable('as_of_load');

create view ledger.restatements as
select
  account, series_id, bucket_start, old_cost, new_cost, old_usage, new_usage, old_load_number, load_number, seen_at
from present.ledger.restatements
where load_number <= getvariable('as_of_load');

create view ledger.loads as
select
  load_number, run_number, account, window_start, window_end, reason, role, outcome, requests, pages, queries, row_count,
  restated, cost, claimed_end, seen_at, landing, platform_at
from present.ledger.loads
where load_number <= getvariable('as_of_load');

create view ledger.covered as
select
  account, window_start, window_end, claimed_end, role, load_number, since_load,
  case when replaced_by <= getvariable('as_of_load') then replaced_by end as replaced_by
from present.ledger.covered
where since_load <= getvariable('as_of_load');

create view ledger.claims_corrected as
select account, load_number, claimed_end, run_number, recorded_at
from present.ledger.claims_corrected
where recorded_at <= getvariable('as_of');

create view ledger.clocks as
select account, run_number, ahead_seconds, platform_at, local_at
from present.ledger.clocks
where platform_at <= getvariable('as_of');

create view ledger.reconciliation as
select
  run_number, attempt, load_number, account, window_start, window_end, check_code, measure, billing_dimension, row_count,
  ours, theirs, difference, tolerance, proven, proven_at
from present.ledger.reconciliation
where case
  when load_number is null then proven_at <= getvariable('as_of')
  else load_number <= getvariable('as_of_load')
end;

create view ledger.accounts as
select
  account, name, history_start, settle_days, lag_hours, role, cost_decimals, usage_decimals, recorded_at,
  case when replaced_at <= getvariable('as_of') then replaced_at end as replaced_at
from present.ledger.accounts
where recorded_at <= getvariable('as_of');

create view ledger.closes as
select
  billing_month, account, run_number, load_number, closed_at, row_count, cost, corrections, correction_cost, sha256,
  invoiced,
  case when reopened_at <= getvariable('as_of') then reopened_at end as reopened_at,
  case when reopened_at <= getvariable('as_of') then reopen_reason end as reopen_reason
from present.ledger.closes
where closed_at <= getvariable('as_of');

create view ledger.resources as
select
  account, resource_type, workspace, resource_name, resource_uuid, created_at, display_name, external_id, labels, region,
  memory_mb, generation, status, is_enabled, plan, created_by, integration_connections, valid_from,
  case when ended_at <= getvariable('as_of') then valid_to end as valid_to,
  recorded_at,
  case when ended_at <= getvariable('as_of') then ended_at end as ended_at,
  run_number
from present.ledger.resources
where recorded_at <= getvariable('as_of');

create view ledger.listings as
select
  run_number, account, token_workspace, resource_type, outcome, reason, resources, opened, ended, requests, read_at
from present.ledger.listings
where read_at <= getvariable('as_of');

create view ledger.allocations as
select
  definition, run_number, recorded_at,
  case when replaced_at <= getvariable('as_of') then replaced_at end as replaced_at
from present.ledger.allocations
where recorded_at <= getvariable('as_of');

create view ledger.alerts as
select
  alert_key, occurrence, kind, account, severity, fact, sinks, is_notified, run_number, raised_at,
  case when ended_at <= getvariable('as_of') then ending end as ending,
  case when ended_at <= getvariable('as_of') then end_fact end as end_fact,
  case when ended_at <= getvariable('as_of') then ended_at end as ended_at
from present.ledger.alerts
where raised_at <= getvariable('as_of');

create view ledger.anomalies as
select
  anomaly_key, account, workspace, resource_type, billing_dimension, kind, is_up, first_day, seen_day, last_day,
  notified_day, state, ended_day, cost, expected, expected_low, expected_high, impact, price_ratio, severity, is_notified,
  detail, run_number, recorded_at,
  case when replaced_at <= getvariable('as_of') then replaced_at end as replaced_at
from present.ledger.anomalies
where recorded_at <= getvariable('as_of');

create view ledger.anomaly_evaluations as
select account, evaluated_through, load_number, run_number, recorded_at
from present.ledger.anomaly_evaluations
where recorded_at <= getvariable('as_of');

create view ledger.acknowledgements as
select
  alert_key, until_at, run_number, acknowledged_at,
  case when ended_at <= getvariable('as_of') then ended_at end as ended_at
from present.ledger.acknowledgements
where acknowledged_at <= getvariable('as_of');

create view ledger.outbox as
select
  message_number, message_id, sink, kind, summary, message, run_number, queued_at,
  case when ended_at <= getvariable('as_of') then outcome end as outcome,
  case when ended_at <= getvariable('as_of') then ended_at end as ended_at
from present.ledger.outbox
where queued_at <= getvariable('as_of');

create view ledger.deliveries as
select
  message_number, run_number, began_at,
  case when ended_at <= getvariable('as_of') then tries end as tries,
  case when ended_at <= getvariable('as_of') then outcome end as outcome,
  case when ended_at <= getvariable('as_of') then reason end as reason,
  case when ended_at <= getvariable('as_of') then ended_at end as ended_at
from present.ledger.deliveries
where began_at <= getvariable('as_of');

create view ledger.forecasts as
select
  run_number, made_at, load_number, scope_kind, budget, account, workspace, resource_type, scope, period_kind, period,
  period_start, period_end, complete_through, step, history_start, history_end, observations, model, transform, seasons,
  spent, forecast, low, high, level, folds, mase, smape, coverage, amount, exceeds_on, reason
from present.ledger.forecasts
where made_at <= getvariable('as_of');

-- The next run discovers a killed run: until then it looked as if it were running.
create view ledger.runs as
with in_order as (
  select
    run_number, command, started_at, ended_at, outcome, exit_code, error,
    coalesce(ended_at, lead(started_at) over (order by run_number)) as over_at
  from present.ledger.runs
)
select
  run_number,
  command,
  started_at,
  case when over_at <= getvariable('as_of') then ended_at end as ended_at,
  case when over_at <= getvariable('as_of') then outcome else 'running' end as outcome,
  case when over_at <= getvariable('as_of') then exit_code end as exit_code,
  case when over_at <= getvariable('as_of') then error end as error
from in_order
where started_at <= getvariable('as_of');

create view ledger.job_runs as
select job_runs.run_number, job_runs.job, job_runs.slot
from present.ledger.job_runs as job_runs
join ledger.runs as runs using (run_number);

-- A killed step ends when its run ends.
create view ledger.steps as
with in_order as (
  select
    steps.run_number, steps.position, steps.step, steps.command_line, steps.outcome, steps.started_at, steps.ended_at,
    steps.seconds, steps.exit_code, steps.error, steps.figures,
    case when runs.outcome = 'running' then steps.ended_at else coalesce(steps.ended_at, steps.started_at) end as over_at
  from present.ledger.steps as steps
  join ledger.runs as runs using (run_number)
)
select
  run_number,
  position,
  step,
  command_line,
  case when over_at <= getvariable('as_of') then outcome else 'running' end as outcome,
  started_at,
  case when over_at <= getvariable('as_of') then ended_at end as ended_at,
  case when over_at <= getvariable('as_of') then seconds end as seconds,
  case when over_at <= getvariable('as_of') then exit_code end as exit_code,
  case when over_at <= getvariable('as_of') then error end as error,
  case when over_at <= getvariable('as_of') then figures end as figures
from in_order
where started_at <= getvariable('as_of');

-- The ledger does not store when an account's part of a run ended; it is shown once the run is over.
create view ledger.account_runs as
select
  account_runs.run_number, account_runs.account, account_runs.exit_code, account_runs.error, account_runs.windows,
  account_runs.pages, account_runs.row_count, account_runs.restated, account_runs.requests, account_runs.retries
from present.ledger.account_runs as account_runs
join ledger.runs as runs using (run_number)
where runs.outcome <> 'running';

-- Rows without a load number: names come with the costs that use them; units are what the program knows today, or knew
-- at a close.
create view ledger.series as
select series_id, account, workspace, resource_type, resource_name, resource_uuid, billing_dimension
from present.ledger.series;

create view ledger.billing_dimensions as
select billing_dimension, resource_type, unit from present.ledger.billing_dimensions;

create view ledger.unit_suffixes as
select suffix, unit from present.ledger.unit_suffixes;

create view ledger.closed_units as
select closed_at, billing_dimension, unit
from present.ledger.closed_units
where closed_at <= getvariable('as_of');

-- The last close stored the units known at it; later ones are those that the program knows today.
create view ledger.units as
with at_close as (
  select billing_dimension, unit
  from ledger.closed_units
  where closed_at = (select max(closed_at) from ledger.closed_units)
)
select
  units.billing_dimension,
  case when at_close.billing_dimension is null then units.unit else at_close.unit end as unit
from present.ledger.units as units
left join at_close using (billing_dimension);

-- Missing here are ledger.journal, which describes the present file, and ledger.unproven and ledger.contradictions:
-- they forget what has been proven since, and no answer is better than a wrong one.
