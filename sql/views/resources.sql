--! about: States of each resource according to the platform's listings, one row per state.
--! grain: account, workspace, resource_type, resource_name, created_at, resource_uuid, valid_from
create or replace view resources as
select
  account,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  display_name,
  external_id,
  labels,
  region,
  memory_mb,
  generation,
  status,
  is_enabled,
  plan,
  created_by,
  integration_connections,
  volumes,
  provider,
  created_at,
  valid_from,
  valid_to,
  recorded_at
from ledger.resources;
comment on view resources is 'States of each resource according to the platform''s listings, one row per state; the current state has no valid_to';
comment on column resources.account is 'Billing account';
comment on column resources.workspace is 'Workspace that contains the resource';
comment on column resources.resource_type is 'Resource type, as costs name it';
comment on column resources.resource_name is 'Resource name; no other resource of the workspace has it at the same time';
comment on column resources.resource_uuid is 'Resource UUID; null if the listing has none';
comment on column resources.display_name is 'Display name';
comment on column resources.external_id is 'Identifier that the resource''s owner chose';
comment on column resources.labels is 'Labels, a JSON object with text values; null if it has none';
comment on column resources.region is 'Region where the resource is deployed; null if policies decide';
comment on column resources.memory_mb is 'Memory in megabytes';
comment on column resources.generation is 'Runtime generation';
comment on column resources.status is 'Deployment status';
comment on column resources.is_enabled is 'Whether the resource serves requests';
comment on column resources.plan is 'Billing plan';
comment on column resources.created_by is 'User who created the resource';
comment on column resources.integration_connections is 'Names of its integration connections, a JSON array; null if it has none';
comment on column resources.volumes is 'Names of the volumes that it mounts, a JSON array, without ephemeral ones; null if its type mounts none, or if an earlier version wrote the state';
comment on column resources.provider is 'Kind of provider behind a model; null for other types';
comment on column resources.created_at is 'When the platform says the resource was created, UTC; the same name with another creation time is another resource';
comment on column resources.valid_from is 'Start of this state, UTC';
comment on column resources.valid_to is 'End of this state, UTC, exclusive; null for the current state';
comment on column resources.recorded_at is 'When Costbook saw this state, UTC';
