--! about: The tables of the books. No table has a key or an index: the one writer and sql/checks keep rows unique.

-- Who pays: a row for each state; replaced_at is null in the current one. history_start is where the books begin,
-- null while that is unknown. The counts of days and hours are those of the last ingest.
create table ledger.accounts (
  account varchar not null,
  name varchar,
  history_start timestamp,
  settle_days integer not null,
  lag_hours integer not null,
  role varchar,
  -- The most decimals that the platform's own totals had.
  cost_decimals integer not null,
  usage_decimals integer not null,
  recorded_at timestamp not null,
  replaced_at timestamp
);

-- One combination of account and the five dimensions; an absent dimension is null.
create table ledger.series (
  series_id ubigint not null,
  account varchar not null,
  workspace varchar,
  resource_type varchar,
  resource_name varchar,
  resource_uuid varchar,
  billing_dimension varchar
);

-- One hour of one series, with the load that gave it its current value: a load that finds the same value leaves the
-- row as it is. Hours without cost and usage are not stored. The series holds the names: repeating them would double
-- the time to write.
create table ledger.hourly_costs (
  series_id ubigint not null,
  bucket_start timestamp not null,
  cost decimal(18, 12) not null,
  usage decimal(18, 6) not null,
  load_number bigint not null
);

-- An hour of a series that changed after it had been loaded; null if the series had no row. old_load_number is the
-- load of the old value, so that costs as of any load can be computed.
create table ledger.restatements (
  account varchar not null,
  series_id ubigint not null,
  bucket_start timestamp not null,
  old_cost decimal(18, 12),
  new_cost decimal(18, 12),
  old_usage decimal(18, 6),
  new_usage decimal(18, 6),
  old_load_number bigint,
  load_number bigint not null,
  seen_at timestamp not null
);

-- Every load, numbered in the order in which they were written.
create table ledger.loads (
  load_number bigint not null,
  run_number bigint not null,
  account varchar not null,
  window_start timestamp not null,
  window_end timestamp not null,
  reason varchar not null,
  role varchar not null,
  -- loaded: the window was replaced. unchanged: it was fetched again and nothing differed.
  outcome varchar not null,
  requests integer not null,
  pages integer not null,
  -- The queries, as JSON: purpose, filter, pages.
  queries varchar not null,
  row_count bigint not null,
  restated bigint not null,
  cost decimal(38, 12) not null,
  claimed_end timestamp not null,
  seen_at timestamp not null,
  landing varchar,
  -- The platform's clock when the window was read, from the Date header of its answers; null if they had none.
  platform_at timestamp
);

-- The hours that each load covers. A row is current until a later load covers the same hours: current rows
-- (replaced_by is null) are disjoint windows. Hours from claimed_end on were too young to be complete.
create table ledger.covered (
  account varchar not null,
  window_start timestamp not null,
  window_end timestamp not null,
  claimed_end timestamp not null,
  role varchar not null,
  load_number bigint not null,
  -- The load that wrote this row, and the one that replaced it.
  since_load bigint not null,
  replaced_by bigint
);

-- Every comparison with the platform's own totals. load_number is null if no load followed: the window is unproven,
-- or the past was verified.
create table ledger.reconciliation (
  run_number bigint not null,
  -- The attempt within the run: a window that does not match is fetched again.
  attempt integer not null,
  load_number bigint,
  account varchar not null,
  window_start timestamp not null,
  window_end timestamp not null,
  check_code varchar not null,
  measure varchar not null,
  billing_dimension varchar,
  row_count bigint not null,
  ours decimal(38, 12),
  theirs decimal(38, 12),
  difference decimal(38, 12),
  tolerance double,
  proven boolean not null,
  proven_at timestamp not null
);

-- Windows that did not match at their last attempt; their last proven state, if any, stays. is_young: only young
-- hours differ, which may have changed while they were fetched, so the next run fetches them again.
create table ledger.unproven (
  account varchar not null,
  window_start timestamp not null,
  window_end timestamp not null,
  reason varchar not null,
  is_young boolean not null,
  run_number bigint not null,
  seen_at timestamp not null,
  cost_difference decimal(38, 12)
);

-- Where the platform's totals of the past contradict its hours, or each other: days, series or names, by day or by
-- month. A row stays until the same query finds no difference.
create table ledger.contradictions (
  account varchar not null,
  question varchar not null,
  billing_dimension varchar,
  window_start timestamp not null,
  window_end timestamp not null,
  reason varchar not null,
  run_number bigint not null,
  seen_at timestamp not null,
  cost_difference decimal(38, 12)
);

-- A closed month: a row for each account, with what it billed. All accounts of a close share its instant, which is
-- after everything recorded before and before everything recorded later, and its last load. A reopened month has its
-- rows still; a month is closed while one of them has no reopened_at.
create table ledger.closes (
  billing_month date not null,
  account varchar not null,
  run_number bigint not null,
  load_number bigint not null,
  closed_at timestamp not null,
  -- Rows and USD of the month's own hours, and of the corrections of earlier months that it bills.
  row_count bigint not null,
  cost decimal(38, 12) not null,
  corrections bigint not null,
  correction_cost decimal(38, 12) not null,
  -- SHA-256 of those rows as text, in order.
  sha256 varchar not null,
  -- USD of the platform's invoice; null if none was entered.
  invoiced decimal(38, 12),
  reopened_at timestamp,
  reopen_reason varchar,
  -- The hours that the books had. If those are lost and fetched again, they are not late.
  covered varchar,
  -- The rate of the month in the second currency; null without one. How much of the currency one USD is.
  currency varchar,
  rate decimal(18, 8),
  -- The day that the rate is of, and who published it.
  rate_date date,
  rate_source varchar
);

-- The units that were known at a close: its answers stay the same when a newer program knows more of them.
create table ledger.closed_units (
  closed_at timestamp not null,
  billing_dimension varchar not null,
  unit varchar
);

create table ledger.runs (
  run_number bigint not null,
  command varchar not null,
  started_at timestamp not null,
  ended_at timestamp,
  outcome varchar not null,
  exit_code integer,
  error varchar,
  -- Of a failed run the code of its error and the next step.
  error_code varchar,
  next_step varchar
);

-- What a run did for one account.
create table ledger.account_runs (
  run_number bigint not null,
  account varchar not null,
  exit_code integer not null,
  error varchar,
  windows integer not null,
  pages integer not null,
  row_count bigint not null,
  restated bigint not null,
  requests integer not null,
  retries integer not null
);

-- A resource as the platform lists it, a row for each state that matters. Account, type, workspace, name, created_at
-- and uuid identify it: a resource that was created again under an old name is another one. Only the fields named
-- here are stored, so that no secret is.
create table ledger.resources (
  account varchar not null,
  -- As costs name it: a listed function is an mcp_server.
  resource_type varchar not null,
  workspace varchar not null,
  resource_name varchar not null,
  resource_uuid varchar,
  -- When it was created, by the platform.
  created_at timestamp,
  display_name varchar,
  external_id varchar,
  -- A JSON object of texts, its keys in order; null if there are none.
  labels varchar,
  region varchar,
  memory_mb integer,
  generation varchar,
  status varchar,
  is_enabled boolean,
  plan varchar,
  created_by varchar,
  -- A JSON array of names in order; null if there are none.
  integration_connections varchar,
  -- States of one resource do not overlap; valid_to is null in the current one.
  valid_from timestamp not null,
  valid_to timestamp,
  -- When the state was seen, and when its end was seen.
  recorded_at timestamp not null,
  ended_at timestamp,
  run_number bigint not null,
  -- The volumes that it mounts: a JSON array of names; null if that is not known.
  volumes varchar,
  -- The provider of a model.
  provider varchar
);

-- Every attempt to fetch a listing, and whose token was used: a configured workspace's, or the account's own (null).
create table ledger.listings (
  run_number bigint not null,
  account varchar not null,
  token_workspace varchar,
  resource_type varchar not null,
  -- read: to its last page. partial: not to its last page. shrunk: more than half of what was there is missing, so its
  -- resources stay. refused: the platform does not serve it to this token. failed: it could not be read.
  outcome varchar not null,
  reason varchar,
  resources bigint not null,
  opened bigint not null,
  ended bigint not null,
  requests integer not null,
  read_at timestamp not null,
  next_step varchar,
  -- How many items fewer a listing has, read to its last page, than its total says.
  shortfall bigint
);

-- The allocation rules: a row for each set that was ever active; replaced_at is null in the current one. The
-- definition is one JSON text that src/allocation compiles from the file and its tables;
-- sql/views/allocation_rules.sql reads it.
create table ledger.allocations (
  definition varchar not null,
  run_number bigint not null,
  recorded_at timestamp not null,
  replaced_at timestamp
);

-- An alert: a row for each time that it was raised. It is open while ended_at is null.
create table ledger.alerts (
  -- Account, kind and what else identifies it: the same at every evaluation.
  alert_key varchar not null,
  -- How often the key was raised so far.
  occurrence integer not null,
  kind varchar not null,
  account varchar,
  severity varchar not null,
  -- The fact as JSON (src/alerts/alert-fact.ts). end_fact is the one that ended it.
  fact varchar not null,
  -- The sinks that are notified, also of the end: a JSON array.
  sinks varchar not null,
  -- False if it was raised while its key was acknowledged, until sinks are notified after all.
  is_notified boolean not null,
  run_number bigint not null,
  raised_at timestamp not null,
  -- resolved: the problem is over. superseded: it was raised again with other numbers. withdrawn: its rule is gone.
  -- lapsed: its period is long over.
  ending varchar,
  end_fact varchar,
  ended_at timestamp
);

-- No sink is notified about a key from acknowledged_at to until_at; ended_at is when that was over.
create table ledger.acknowledgements (
  alert_key varchar not null,
  until_at timestamp not null,
  run_number bigint not null,
  acknowledged_at timestamp not null,
  ended_at timestamp
);

-- Messages to send, one per sink and run; each sink gets them in order.
create table ledger.outbox (
  message_number bigint not null,
  -- The same in every attempt, so that a receiver recognizes a repeat.
  message_id varchar not null,
  sink varchar not null,
  -- alerts or summary.
  kind varchar not null,
  -- The name of a summary, so that it is sent once; null for alerts.
  summary varchar,
  -- As JSON; each sink words it.
  message varchar not null,
  run_number bigint not null,
  queued_at timestamp not null,
  -- delivered, or dead: given up. Null while it waits.
  outcome varchar,
  ended_at timestamp
);

-- Each run's attempt at a message, written when it begins, so that the attempt of a killed run shows.
create table ledger.deliveries (
  message_number bigint not null,
  run_number bigint not null,
  began_at timestamp not null,
  tries integer,
  -- delivered. refused: the sink certainly did not take it. unknown: it may have. Null if the run was killed.
  outcome varchar,
  reason varchar,
  ended_at timestamp
);

-- One row: the last event of the journal that is in these tables, written in the same transaction.
create table ledger.journal (
  applied bigint not null
);
insert into ledger.journal values (0);

-- The platform's own list of billing dimensions, with their units.
create table ledger.billing_dimensions (
  billing_dimension varchar not null,
  resource_type varchar not null,
  unit varchar not null
);

create table ledger.unit_suffixes (
  suffix varchar not null,
  unit varchar not null
);

-- Forecasts as they were made: a row for each scope, period and complete-through instant. Rows never change, so that
-- forecasts can be compared with what the period came to.
create table ledger.forecasts (
  run_number bigint not null,
  -- The books' own now.
  made_at timestamp not null,
  -- The last load in the books at that time.
  load_number bigint not null,
  -- budget, or workspace: of one resource type in one workspace of an account.
  scope_kind varchar not null,
  budget varchar,
  -- The one account of a budget; null if it has several, or all.
  account varchar,
  workspace varchar,
  resource_type varchar,
  -- The costs of a budget, as JSON: its definition may change later.
  scope varchar,
  -- monthly and so on, and the period's name: 2026-10.
  period_kind varchar not null,
  period varchar not null,
  period_start timestamp not null,
  period_end timestamp not null,
  complete_through timestamp not null,
  -- The history: values of one hour or one day each, and how many of them the model was made from.
  step varchar,
  history_start timestamp,
  history_end timestamp,
  observations integer,
  model varchar,
  transform varchar,
  -- Lengths of the seasons in steps, a JSON array.
  seasons varchar,
  -- USD in the complete hours of the period.
  spent decimal(38, 12) not null,
  -- USD at the period's end; null if there is no forecast, with the reason.
  forecast decimal(38, 12),
  low decimal(38, 12),
  high decimal(38, 12),
  -- Of how many outcomes in a hundred the interval should hold.
  level integer not null,
  -- How the model did on its own history: number of trials, errors, and the share of sums that intervals held.
  folds integer,
  mase double,
  smape double,
  coverage double,
  -- USD that may be spent in the period, and the day on which the forecast reaches it, by the budget's own clocks.
  amount decimal(38, 12),
  exceeds_on date,
  reason varchar
);

-- An anomaly: a row for each state; replaced_at is null in the current one. Days are UTC.
create table ledger.anomalies (
  -- Account, names and the first day when it was found: the same in every state.
  anomaly_key varchar not null,
  account varchar not null,
  workspace varchar,
  resource_type varchar,
  billing_dimension varchar,
  -- spike, step, drop, new, price, or dip: cheaper, and nobody is notified while it may be a holiday.
  kind varchar not null,
  is_up boolean not null,
  first_day date not null,
  -- The day with which it was found, its last unusual day, and the day with which it was certain enough to notify.
  seen_day date not null,
  last_day date not null,
  notified_day date,
  -- open. over: as before again. usual: it lasted until it became the expected level. grown: it became another anomaly.
  -- restated: nothing is left of it.
  state varchar not null,
  ended_day date,
  -- USD of the first day, and what was expected of it: an estimate, to the millionth.
  cost decimal(38, 12) not null,
  expected decimal(38, 12) not null,
  expected_low decimal(38, 12) not null,
  expected_high decimal(38, 12) not null,
  -- USD by which all of its days differ from the expected cost.
  impact decimal(38, 12) not null,
  -- For a price: the new price of a unit divided by the old one.
  price_ratio double,
  severity varchar not null,
  is_notified boolean not null,
  -- A JSON object: the impact of each day, the hour in which it began, whether price or usage moved, and who drives it.
  detail varchar not null,
  run_number bigint not null,
  recorded_at timestamp not null,
  replaced_at timestamp
);

-- Every evaluation of an account: through which instant, and the last load at that time.
create table ledger.anomaly_evaluations (
  account varchar not null,
  evaluated_through timestamp not null,
  load_number bigint not null,
  run_number bigint not null,
  recorded_at timestamp not null
);

-- A run of a job. A slot that nobody ran has a run of its own, whose outcome is missed.
create table ledger.job_runs (
  run_number bigint not null,
  job varchar not null,
  -- The instant of the schedule that it was for; null if it was started by hand, or by another scheduler.
  slot timestamp
);

create table ledger.steps (
  run_number bigint not null,
  -- From 1, in the order in which the job has them.
  position integer not null,
  step varchar not null,
  -- With its options, as typed after costbook.
  command_line varchar not null,
  -- running, done, failed, interrupted, or left_out: something that it needs had failed, or the run was at its end.
  outcome varchar not null,
  started_at timestamp not null,
  ended_at timestamp,
  -- In real time, also if --now fixes the books' clock.
  seconds decimal(12, 3),
  exit_code integer,
  error varchar,
  -- What it counted, as a JSON object; null if it did not get that far.
  figures varchar,
  error_code varchar,
  next_step varchar
);

-- Loads that were fetched while our clock was fast: no hour from claimed_end on is complete.
create table ledger.claims_corrected (
  account varchar not null,
  load_number bigint not null,
  claimed_end timestamp not null,
  run_number bigint not null,
  recorded_at timestamp not null
);

-- How far our clock was ahead of the platform's: a row if it was more than an hour, and one once it is correct again.
create table ledger.clocks (
  account varchar not null,
  run_number bigint not null,
  ahead_seconds bigint not null,
  -- The platform's clock, and ours.
  platform_at timestamp not null,
  local_at timestamp not null
);

-- What the platform last said about the use of a resource, one row per resource; earlier values are replaced.
create table ledger.resource_use (
  account varchar not null,
  resource_type varchar not null,
  workspace varchar not null,
  resource_name varchar not null,
  resource_uuid varchar,
  created_at timestamp,
  -- The runtime state of a sandbox.
  runtime_state varchar,
  last_used_at timestamp,
  expires_at timestamp,
  time_to_live varchar,
  -- A JSON array of objects with action, type and value; null if there are none.
  expiration_policies varchar,
  -- Instances that are always warm.
  min_scale integer,
  recorded_at timestamp not null,
  run_number bigint not null
);

-- An entry of a resource's deployment history, as the platform lists it. It stays when the platform lists it no
-- longer.
create table ledger.resource_events (
  account varchar not null,
  workspace varchar not null,
  resource_type varchar not null,
  resource_name varchar not null,
  event_time timestamp not null,
  event_type varchar,
  status varchar,
  message varchar,
  revision varchar,
  canary_revision varchar,
  run_number bigint not null,
  recorded_at timestamp not null
);

-- What a resource runs: a row when a listing first has it, and one for each change. A change happened after the
-- listing before, and by changed_by at the latest.
create table ledger.resource_runtimes (
  account varchar not null,
  workspace varchar not null,
  resource_type varchar not null,
  resource_name varchar not null,
  created_at timestamp,
  image varchar,
  revision varchar,
  min_scale integer,
  max_scale integer,
  changed_by timestamp not null,
  run_number bigint not null,
  recorded_at timestamp not null
);

-- What the platform lists as dimensions and resource types of costs, read once a week. A list that it does not serve
-- is null.
create table ledger.platform_lists (
  account varchar not null,
  run_number bigint not null,
  read_at timestamp not null,
  -- JSON lists of names.
  dimensions varchar,
  resource_types varchar
);

-- What people said that anomalies were: the last row of an anomaly applies.
create table ledger.alert_feedback (
  -- The key that the person named: of an alert with all its parts, or of one part.
  alert_key varchar not null,
  anomaly_key varchar not null,
  account varchar not null,
  workspace varchar,
  resource_type varchar,
  billing_dimension varchar,
  is_up boolean not null,
  -- expected, fixed or false. none takes earlier feedback back.
  feedback varchar not null,
  -- Its days so far, and the cost of the largest of them in USD.
  first_day date not null,
  last_day date not null,
  largest_cost decimal(38, 12) not null,
  -- The first day that it applies to: earlier days are not judged again.
  applies_from date not null,
  run_number bigint not null,
  given_at timestamp not null
);

-- The first and the last hour of each series, as of a load. It only saves reading every hour each night to plan
-- queries: it has no facts of its own, and a rebuilt warehouse fills it again.
create table ledger.series_hours (
  series_id ubigint not null,
  -- No hour is outside; after a correction to zero, there may be none at the limits.
  first_hour timestamp not null,
  last_hour timestamp not null,
  -- The load through which its hours were read.
  load_number bigint not null
);

-- Answers that a run has computed: sums of costs, and forecasts. It has no facts of its own, and a rebuilt warehouse
-- fills it again.
create table ledger.cached_answers (
  kind varchar not null,
  -- SHA-256 of the whole question, with the program that answered it.
  question varchar not null,
  -- The state of the books that it was last asked of. A forecast names all that it depends on in its question.
  state varchar not null,
  run_number bigint not null,
  made_at timestamp not null,
  -- JSON.
  answer varchar not null
);

-- The unit of each billing dimension's usage; null if it is unknown.
create view ledger.units as
with named as (
  select distinct billing_dimension
  from ledger.series
  where billing_dimension is not null
)
select
  named.billing_dimension,
  coalesce(min(billing_dimensions.unit), min(unit_suffixes.unit)) as unit
from named
left join ledger.billing_dimensions as billing_dimensions using (billing_dimension)
left join ledger.unit_suffixes as unit_suffixes on ends_with(named.billing_dimension, unit_suffixes.suffix)
group by named.billing_dimension;
