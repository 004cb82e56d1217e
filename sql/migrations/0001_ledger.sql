--! about: The ledger: what was loaded, from whom, how it was proven, and how it changed. No table has a key or an
--! about: index: uniqueness is kept by the one writer and by sql/checks, and the file can move to a shared lake.
-- Who pays, a row for each state that was ever true: replaced_at is null in the present one. history_start is where the
-- books begin, null while that is not known yet; the two day and hour counts are those of the last ingest.
create table ledger.accounts (
  account varchar not null,
  name varchar,
  history_start timestamp,
  settle_days integer not null,
  lag_hours integer not null,
  role varchar,
  -- The most decimals that the platform's own totals were seen to carry.
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

-- One hour of one series, written by the load that gave it its present value: a load that finds the same value leaves
-- the row alone. Hours without cost and usage are not stored. Whose it is the series tells: a text that is the same in
-- millions of rows was measured to be half of what writing them costs.
create table ledger.amounts (
  series_id ubigint not null,
  bucket_start timestamp not null,
  cost decimal(18, 12) not null,
  usage decimal(18, 6) not null,
  load_number bigint not null
);

-- An hour of a series that changed after it had been loaded; null where the series had no row. old_load_number is the
-- load that had given it its old value: with it the amounts as of any load can be told without the history.
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

-- Every load there ever was, numbered in the order in which they were written.
create table ledger.loads (
  load_number bigint not null,
  run_number bigint not null,
  account varchar not null,
  window_start timestamp not null,
  window_end timestamp not null,
  reason varchar not null,
  role varchar not null,
  -- loaded: the window was replaced. unchanged: it was proven again and nothing differed.
  outcome varchar not null,
  requests integer not null,
  pages integer not null,
  -- The queries asked, as JSON: purpose, filter, pages.
  queries varchar not null,
  amounts bigint not null,
  restated bigint not null,
  cost decimal(38, 12) not null,
  claimed_end timestamp not null,
  seen_at timestamp not null,
  landing varchar
);

-- Which load spoke for which hours: those that speak now (replaced_by is null) are disjoint windows. Hours from
-- claimed_end on were too young to be claimed.
create table ledger.covered (
  account varchar not null,
  window_start timestamp not null,
  window_end timestamp not null,
  claimed_end timestamp not null,
  role varchar not null,
  load_number bigint not null,
  -- The load since which this row came to be, and the one that put another in its place.
  since_load bigint not null,
  replaced_by bigint
);

-- Every comparison with the platform's own totals. load_number is null where no load came of it: the window did not
-- prove, or what is in the books was verified.
create table ledger.proofs (
  run_number bigint not null,
  -- Which reading of the window within the run: a window that does not prove is read again.
  reading integer not null,
  load_number bigint,
  account varchar not null,
  window_start timestamp not null,
  window_end timestamp not null,
  compared varchar not null,
  measure varchar not null,
  billing_dimension varchar,
  amounts bigint not null,
  ours decimal(38, 12),
  theirs decimal(38, 12),
  difference decimal(38, 12),
  tolerance double,
  proven boolean not null,
  proven_at timestamp not null
);

-- Windows that did not prove the last time they were asked for; their last proven state, if any, stands. Where only
-- young hours are concerned, whose numbers may have been changing while they were read, the next run asks for them.
create table ledger.unproven (
  account varchar not null,
  window_start timestamp not null,
  window_end timestamp not null,
  because varchar not null,
  is_young boolean not null,
  run_number bigint not null,
  seen_at timestamp not null
);

-- Where the platform's totals of the past contradict its own hours, or themselves, each until the question that found it
-- is asked again and finds otherwise: days, series or names, by day or by month.
create table ledger.contradictions (
  account varchar not null,
  question varchar not null,
  billing_dimension varchar,
  window_start timestamp not null,
  window_end timestamp not null,
  because varchar not null,
  run_number bigint not null,
  seen_at timestamp not null
);

-- A month that was closed, a row for each account in the books at that moment: what was billed in it then. All accounts
-- of a close share its instant, which lies after everything seen before it and before everything seen later, and the
-- last load that is in it. A month that was reopened keeps its rows; it is closed while one has no reopened_at.
create table ledger.closes (
  billing_month date not null,
  account varchar not null,
  run_number bigint not null,
  load_number bigint not null,
  closed_at timestamp not null,
  -- Rows and USD of the month's own hours, and of the corrections of earlier months that are delivered in it.
  amounts bigint not null,
  cost decimal(38, 12) not null,
  corrections bigint not null,
  correction_cost decimal(38, 12) not null,
  -- SHA-256 of those rows as text, in order.
  digest varchar not null,
  -- USD of the platform's invoice, where it was told.
  invoiced decimal(38, 12),
  reopened_at timestamp,
  reopened_because varchar
);

-- The units that were known at a close: what it answered stays as it was when a newer program knows more of them.
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
  error varchar
);

-- What a run did for one account.
create table ledger.account_runs (
  run_number bigint not null,
  account varchar not null,
  exit_code integer not null,
  error varchar,
  windows integer not null,
  pages integer not null,
  amounts bigint not null,
  restated bigint not null,
  requests integer not null,
  retries integer not null
);

-- What the platform's listings told of a resource, a row for each state that matters (volatile things make none). Which
-- resource it is, account, type, workspace, name, createdAt and uuid tell together: one that was made anew under an old
-- name is another one. Secrets never come here: what is kept of a listing is named one by one.
create table ledger.resources (
  account varchar not null,
  -- As costs name it: what is listed as a function is an mcp_server.
  resource_type varchar not null,
  workspace varchar not null,
  resource_name varchar not null,
  resource_uuid varchar,
  -- When the platform says that it was made.
  created_at timestamp,
  display_name varchar,
  external_id varchar,
  -- A JSON object of texts, its keys in order; null where there are none.
  labels varchar,
  region varchar,
  memory_mb integer,
  generation varchar,
  status varchar,
  is_enabled boolean,
  plan varchar,
  created_by varchar,
  -- A JSON array of names in order; null where there are none.
  integration_connections varchar,
  -- Of one resource these do not overlap; valid_to is null while the state is the present one.
  valid_from timestamp not null,
  valid_to timestamp,
  -- When it was seen, and when its end was.
  recorded_at timestamp not null,
  ended_at timestamp,
  -- The run that saw it.
  run_number bigint not null
);

-- Every reading of a listing, by whose token: of a workspace named in the configuration, or the account's own (null).
create table ledger.listings (
  run_number bigint not null,
  account varchar not null,
  token_workspace varchar,
  resource_type varchar not null,
  -- read: to its last page. partial: not to its last page. shrunk: more than half of what was there is missing, and was
  -- kept. refused: the platform does not serve it to this token. failed: it could not be read.
  outcome varchar not null,
  because varchar,
  resources bigint not null,
  opened bigint not null,
  ended bigint not null,
  requests integer not null,
  read_at timestamp not null
);

-- The allocation rules, a row for each set that was ever in force: replaced_at is null in the present one. The definition
-- is one JSON text, what src/allocation compiles of the file and its lookup tables: rules are read and replaced as one,
-- and the views take it apart (sql/views/allocation_rules.sql says how).
create table ledger.allocations (
  definition varchar not null,
  -- The run that put it in force.
  run_number bigint not null,
  recorded_at timestamp not null,
  replaced_at timestamp
);

-- An alert, a row for each time that it was raised: a fact that somebody must hear once. It is open while ended_at is null.
create table ledger.alerts (
  -- Account, kind and what else tells it apart: the same however often, and by whomever, it is evaluated.
  alert_key varchar not null,
  -- The how many-th time the key was raised.
  occurrence integer not null,
  kind varchar not null,
  account varchar,
  severity varchar not null,
  -- The fact as JSON; src/reports/alert-facts.ts says what each kind tells. end_fact is the one that ended it.
  fact varchar not null,
  -- Who is told, a JSON array of sinks: of the end too.
  sinks varchar not null,
  -- False where it was raised while its key was acknowledged, until it is told after all.
  is_told boolean not null,
  run_number bigint not null,
  raised_at timestamp not null,
  -- resolved: what it says is over. superseded: it was raised again with other numbers. withdrawn: nobody asks for it any
  -- more. lapsed: its period is long over.
  ending varchar,
  end_fact varchar,
  ended_at timestamp
);

-- Nothing is told of a key from acknowledged_at to until_at; ended_at is when that was over.
create table ledger.acknowledgements (
  alert_key varchar not null,
  until_at timestamp not null,
  run_number bigint not null,
  acknowledged_at timestamp not null,
  ended_at timestamp
);

-- What is to be told: a message to one sink, with all that one run tells it. Of one sink they are told in their order.
create table ledger.outbox (
  message_number bigint not null,
  -- The same in every attempt: by it a receiver knows a repeat.
  message_id varchar not null,
  sink varchar not null,
  -- alerts or digest.
  kind varchar not null,
  -- Of a digest its name, so that it is made once; null of alerts.
  digest varchar,
  -- What is told, as JSON; each sink puts it into its own words.
  message varchar not null,
  run_number bigint not null,
  queued_at timestamp not null,
  -- delivered, or dead: given up. Null while it is to be told.
  outcome varchar,
  ended_at timestamp
);

-- What came of each run's attempt at a message: written when it begins, so that a run that was killed shows.
create table ledger.deliveries (
  message_number bigint not null,
  run_number bigint not null,
  began_at timestamp not null,
  tries integer,
  -- delivered. refused: the sink certainly did not take it. unknown: it may have; null where the run did not say any more.
  outcome varchar,
  because varchar,
  ended_at timestamp
);

-- The last event of the journal that is in these tables, one row: written with it in one transaction.
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

-- The unit of each billing dimension's usage; null where it is not known.
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
