--! about: What the platform last said about the use of each resource. Only the newest values are stored.
--! grain: account, workspace, resource_type, resource_name, created_at, resource_uuid
create or replace view resource_use as
select
  account,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  runtime_state,
  last_used_at,
  min_scale,
  expires_at,
  time_to_live,
  expiration_policies,
  created_at,
  recorded_at
from ledger.resource_use;
comment on view resource_use is 'What the platform last said about the use of each resource: the newest values only, without a history. Resources without any of these values have no row';
comment on column resource_use.account is 'Billing account';
comment on column resource_use.workspace is 'Workspace that contains the resource';
comment on column resource_use.resource_type is 'Resource type, as costs name it';
comment on column resource_use.resource_name is 'Resource name';
comment on column resource_use.resource_uuid is 'Resource UUID; null if the listing has none';
comment on column resource_use.runtime_state is 'Runtime state of a sandbox, such as RUNNING';
comment on column resource_use.last_used_at is 'When the resource was last used, UTC; sandboxes only';
comment on column resource_use.min_scale is 'Instances that are always warm';
comment on column resource_use.expires_at is 'When the resource expires, UTC';
comment on column resource_use.time_to_live is 'Duration after which the resource expires, as the platform writes it';
comment on column resource_use.expiration_policies is 'Expiration policies, a JSON array of objects with action, type and value; null if it has none';
comment on column resource_use.created_at is 'When the platform says the resource was created, UTC';
comment on column resource_use.recorded_at is 'When Costbook saw these values first, UTC';
