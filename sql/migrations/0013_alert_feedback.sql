--! about: What people said that anomalies were, and the bar that follows from it.
-- A row for each anomaly and each time that somebody said what it was: the last row of an anomaly applies.
create table ledger.alert_feedback (
  -- The key that was named: of an alert with all its parts, or of one part.
  alert_key varchar not null,
  anomaly_key varchar not null,
  account varchar not null,
  workspace varchar,
  resource_type varchar,
  billing_dimension varchar,
  is_up boolean not null,
  -- expected, fixed or false. none: what was said before is taken back.
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
