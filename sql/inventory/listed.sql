--! about: The resources of a new listing, each once, and what is known in the workspaces that occur in it.
create or replace temp table listed as
-- A resource that moved to another page during the read arrives twice; the last one is newest.
select
  newest.workspace, newest.resource_name, newest.resource_uuid, newest.created_at, newest.updated_at, newest.display_name,
  newest.external_id, if(newest.is_lite, stored.labels, newest.labels) as labels, newest.region, newest.memory_mb,
  newest.generation, newest.status, newest.is_enabled, if(newest.is_lite, stored.plan, newest.plan) as plan,
  if(newest.is_lite, stored.created_by, newest.created_by) as created_by, newest.integration_connections, newest.volumes,
  newest.provider, newest.runtime_state, newest.last_used_at, newest.expires_at, newest.time_to_live,
  newest.expiration_policies, newest.min_scale,
  if(newest.is_lite, stored.size_bytes, newest.size_bytes) as size_bytes, newest.attached_to,
  if(newest.is_lite, resource_use.details_of, newest.details_of) as details_of
from (
  select *
  from staged_resources
  qualify row_number() over (partition by workspace, resource_name, resource_uuid, created_at order by arrival desc) = 1
) as newest
-- What the items of a listing lack stays as it was read last.
left join ledger.resources as stored
  on newest.is_lite
  and stored.account = $account
  and stored.resource_type = $resource_type
  and stored.workspace = newest.workspace
  and stored.resource_name = newest.resource_name
  and stored.resource_uuid is not distinct from newest.resource_uuid
  and stored.created_at is not distinct from newest.created_at
  and stored.valid_to is null
left join ledger.resource_use as resource_use
  on newest.is_lite
  and resource_use.account = $account
  and resource_use.resource_type = $resource_type
  and resource_use.workspace = newest.workspace
  and resource_use.resource_name = newest.resource_name
  and resource_use.resource_uuid is not distinct from newest.resource_uuid
  and resource_use.created_at is not distinct from newest.created_at;

-- A listing speaks for the workspace that it was asked for, and for those that occur in it.
create or replace temp table known as
select
  workspace, resource_name, resource_uuid, created_at, display_name, external_id, labels, region, memory_mb, generation,
  status, is_enabled, plan, created_by, integration_connections, volumes, provider, size_bytes, attached_to, valid_from
from ledger.resources
where account = $account
  and resource_type = $resource_type
  and valid_to is null
  and (workspace = $workspace or workspace in (select workspace from listed));
