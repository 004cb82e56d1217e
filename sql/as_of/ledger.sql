--! about: The ledger as of the instant in instant.sql, over the file attached as present: the tables of the migrations
--! about: under their own names, so that the public views and reports work on it unchanged.
create view ledger.hourly_costs as
--! include: hours_as_of
;

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
  account, window_start, window_end, claimed_end, role,
  -- A later load fetched lost hours again: then the lost load had them.
  case when load_number <= getvariable('as_of_load') then load_number else since_load end as load_number,
  since_load,
  case when replaced_by <= getvariable('as_of_load') then replaced_by end as replaced_by
from present.ledger.covered
where since_load <= getvariable('as_of_load');

create view ledger.reconciliation as
select
  run_number, attempt, load_number, account, window_start, window_end, check_code, measure, billing_dimension, row_count,
  ours, theirs, difference, tolerance, proven, proven_at
from present.ledger.reconciliation
where case
  when load_number is null then proven_at <= getvariable('as_of')
  else load_number <= getvariable('as_of_load')
end;

-- The next run discovers a killed run: until then it looked as if it were running.
create view ledger.runs as
with in_order as (
  select
    run_number, command, started_at, ended_at, outcome, exit_code, failures, command_line,
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
  case when over_at <= getvariable('as_of') then failures end as failures,
  command_line
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
    steps.seconds, steps.exit_code, steps.failures, steps.figures,
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
  case when over_at <= getvariable('as_of') then failures end as failures,
  case when over_at <= getvariable('as_of') then figures end as figures
from in_order
where started_at <= getvariable('as_of');

-- The ledger does not store when an account's part of a run ended; it is shown once the run is over.
create view ledger.account_runs as
select
  account_runs.run_number, account_runs.account, account_runs.exit_code, account_runs.failures, account_runs.windows,
  account_runs.pages, account_runs.row_count, account_runs.restated, account_runs.requests, account_runs.retries
from present.ledger.account_runs as account_runs
join ledger.runs as runs using (run_number)
where runs.outcome <> 'running';

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
