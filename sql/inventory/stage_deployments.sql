--! about: Staging tables for the deployment histories and runtimes of one listing.
create or replace temp table staged_events (
  workspace varchar not null,
  resource_name varchar not null,
  event_time timestamp not null,
  event_type varchar,
  status varchar,
  message varchar,
  revision varchar,
  canary_revision varchar
);

create or replace temp table staged_runtimes (
  arrival integer not null,
  workspace varchar not null,
  resource_name varchar not null,
  created_at timestamp,
  updated_at timestamp,
  image varchar,
  revision varchar,
  min_scale integer,
  max_scale integer
);
