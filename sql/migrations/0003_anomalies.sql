--! about: What was not as usual in the costs of a workspace's resource type along a billing dimension, and how far that was
--! about: looked at.
-- An anomaly, a row for each state in which it was ever known: replaced_at is null in the present one. Days are UTC.
create table ledger.anomalies (
  -- Account, names and first day as it was first known: the same in every state.
  anomaly_key varchar not null,
  account varchar not null,
  workspace varchar,
  resource_type varchar,
  billing_dimension varchar,
  -- spike, step, drop, new, price, or dip: cheaper, and told to nobody while it may be a holiday.
  kind varchar not null,
  is_up boolean not null,
  first_day date not null,
  -- The day with whose completion it showed, the last that was not as usual, and the one with whose completion it was sure
  -- enough to be told.
  seen_day date not null,
  last_day date not null,
  told_day date,
  -- open. over: as before again. usual: it stayed until it was what is expected. grown: it became another one, told by
  -- itself. restated: nothing is left of it.
  state varchar not null,
  ended_day date,
  -- USD of the first day, and what was expected of it: an estimate, to the millionth.
  cost decimal(38, 12) not null,
  expected decimal(38, 12) not null,
  expected_low decimal(38, 12) not null,
  expected_high decimal(38, 12) not null,
  -- USD by which all of its days differ from what was expected of them.
  impact decimal(38, 12) not null,
  -- Of a price: so many times what a unit cost before.
  price_ratio double,
  severity varchar not null,
  -- Whether somebody is to be told of it.
  is_told boolean not null,
  -- A JSON object: the impact of each day, the hour in which it began, whether price or usage moved, and who drives it.
  detail varchar not null,
  run_number bigint not null,
  recorded_at timestamp not null,
  replaced_at timestamp
);

-- Every evaluation of an account: through when its days were looked at, and with what the last load was.
create table ledger.anomaly_evaluations (
  account varchar not null,
  evaluated_through timestamp not null,
  load_number bigint not null,
  run_number bigint not null,
  recorded_at timestamp not null
);
