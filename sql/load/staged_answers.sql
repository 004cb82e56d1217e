--! about: Empty staging tables for the answers of one window; they exist on the loading connection only.
create or replace temp table staged_queries (
  query integer not null,
  purpose varchar not null,
  -- The name of the query in messages and reconciliations: its purpose and its filter.
  name varchar not null,
  -- Every page repeats the total; a platform that adds doubles may report it slightly differently each time.
  lowest_total decimal(38, 12),
  highest_total decimal(38, 12)
);
create or replace temp table staged_entries (
  entry integer not null,
  query integer not null,
  workspace varchar,
  resource_type varchar,
  resource_name varchar,
  resource_uuid varchar,
  billing_dimension varchar,
  cost decimal(38, 12) not null,
  usage decimal(38, 6) not null
);
-- bucket counts hours from the window's start.
create or replace temp table staged_points (
  entry integer not null,
  bucket integer not null,
  cost decimal(18, 12) not null,
  usage decimal(18, 6) not null
);
create or replace temp table incoming_series (
  series_id ubigint not null,
  account varchar not null,
  workspace varchar,
  resource_type varchar,
  resource_name varchar,
  resource_uuid varchar,
  billing_dimension varchar
);
-- May hold several rows of one series and hour; they are added up when the window is replaced.
create or replace temp table incoming (
  series_id ubigint not null,
  bucket integer not null,
  cost decimal(18, 12) not null,
  usage decimal(18, 6) not null
);
create or replace temp table differences (
  query integer not null,
  workspace varchar,
  resource_type varchar,
  resource_name varchar,
  billing_dimension varchar,
  bucket integer not null,
  cost decimal(38, 12) not null,
  usage decimal(38, 6) not null
);
-- Filled when the window is compared; empty if it could not be.
create or replace temp table window_reconciliation as
select check_code, measure, billing_dimension, row_count, ours, theirs, difference, tolerance, proven
from ledger.reconciliation
limit 0;
