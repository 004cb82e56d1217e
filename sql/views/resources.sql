--! about: What the platform's listings told of each resource, a row for each state that it was in.
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
  created_at,
  valid_from,
  valid_to,
  recorded_at
from ledger.resources;
comment on view resources is 'What the platform''s listings told of each resource, one row a state; what is valid now has no valid_to';
comment on column resources.account is 'Account that pays';
comment on column resources.workspace is 'Workspace that owns it';
comment on column resources.resource_type is 'Resource type as costs name it';
comment on column resources.resource_name is 'Resource name: at one time one resource of its workspace has it';
comment on column resources.resource_uuid is 'Resource UUID; null where the listing gives none';
comment on column resources.display_name is 'Name for people';
comment on column resources.external_id is 'The owner''s own identifier';
comment on column resources.labels is 'Labels: a JSON object of texts; null where there are none';
comment on column resources.region is 'Region in which it is deployed; null where policies decide';
comment on column resources.memory_mb is 'Memory, megabytes';
comment on column resources.generation is 'Generation of the runtime';
comment on column resources.status is 'Deployment status';
comment on column resources.is_enabled is 'Whether it serves requests';
comment on column resources.plan is 'Billing plan';
comment on column resources.created_by is 'Who made it';
comment on column resources.integration_connections is 'Names of its integration connections: a JSON array; null where there are none';
comment on column resources.created_at is 'When it was made, as the platform says, UTC: another one of the same name is another resource';
comment on column resources.valid_from is 'Since when it is so, UTC';
comment on column resources.valid_to is 'Until when it was so, UTC, exclusive; null where it still is';
comment on column resources.recorded_at is 'When this was seen, UTC';
