--! about: Staging table for the items of one listing, in order.
create or replace temp table staged_resources (
  arrival integer not null,
  workspace varchar not null,
  resource_name varchar not null,
  resource_uuid varchar,
  created_at timestamp,
  updated_at timestamp,
  display_name varchar,
  external_id varchar,
  labels varchar,
  region varchar,
  memory_mb integer,
  generation varchar,
  status varchar,
  is_enabled boolean,
  plan varchar,
  created_by varchar,
  integration_connections varchar
);
