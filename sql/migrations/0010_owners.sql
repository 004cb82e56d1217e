--! about: A resource's state names the volumes that it mounts, and the provider of a model. The newest values of what
--! about: changes without a new state have a table of their own. Earlier versions stored none of these: null in volumes
--! about: means that it is not known, [] that the resource mounts none.
alter table ledger.resources add column volumes varchar;
alter table ledger.resources add column provider varchar;

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
