--! about: The resources of a new listing, each once, and what is known in the workspaces that occur in it.
create or replace temp table listed as
-- A resource that moved to another page during the read arrives twice; the last one is newest.
select
  workspace, resource_name, resource_uuid, created_at, updated_at, display_name, external_id, labels, region, memory_mb,
  generation, status, is_enabled, plan, created_by, integration_connections, volumes, provider, runtime_state,
  last_used_at, expires_at, time_to_live, expiration_policies, min_scale
from (
  select
    *,
    row_number() over (
      partition by workspace, resource_name, resource_uuid, created_at order by arrival desc
    ) as newest
  from staged_resources
)
where newest = 1;

-- A listing speaks for the workspace that it was asked for, and for those that occur in it.
create or replace temp table known as
select
  workspace, resource_name, resource_uuid, created_at, display_name, external_id, labels, region, memory_mb, generation,
  status, is_enabled, plan, created_by, integration_connections, volumes, provider, valid_from
from ledger.resources
where account = $account
  and resource_type = $resource_type
  and valid_to is null
  and (workspace = $workspace or workspace in (select workspace from listed));
