--! about: What was deployed, and when. Books of earlier versions start with the events and runtimes of their next listings.
-- An entry of a resource's deployment history, as the platform lists it. It stays when the platform lists it no longer.
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

-- What a resource runs: a row when a listing first has it, and one for each change. A change happened after the listing
-- before, and by changed_by at the latest.
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
