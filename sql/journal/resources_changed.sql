--! about: Resource states that end, and the states that follow; instants as text. A change without old_valid_from ends
--! about: no state, one without valid_from starts none.
update ledger.resources as resources
set valid_to = cast(changes.old_valid_to as timestamp), ended_at = cast($seen_at as timestamp)
from rows_in(
  $changes,
  '[{
    "workspace": "VARCHAR", "resource_name": "VARCHAR", "resource_uuid": "VARCHAR", "created_at": "VARCHAR",
    "old_valid_from": "VARCHAR", "old_valid_to": "VARCHAR"
  }]'
) as changes
where resources.account = $account
  and resources.resource_type = $resource_type
  and resources.valid_to is null
  and resources.workspace = changes.workspace
  and resources.resource_name = changes.resource_name
  and resources.resource_uuid is not distinct from changes.resource_uuid
  and resources.created_at is not distinct from cast(changes.created_at as timestamp)
  and resources.valid_from = cast(changes.old_valid_from as timestamp);

insert into ledger.resources (
  account, resource_type, workspace, resource_name, resource_uuid, created_at, display_name, external_id, labels, region,
  memory_mb, generation, status, is_enabled, plan, created_by, integration_connections, volumes, provider, valid_from,
  valid_to, recorded_at, ended_at, run_number, size_bytes, attached_to
)
select
  $account, $resource_type, workspace, resource_name, resource_uuid, cast(created_at as timestamp), display_name,
  external_id, labels, region, memory_mb, generation, status, is_enabled, plan, created_by, integration_connections,
  volumes, provider, cast(valid_from as timestamp), null, cast($seen_at as timestamp), null, cast($run_number as bigint),
  size_bytes, attached_to
from rows_in(
  $changes,
  '[{
    "workspace": "VARCHAR", "resource_name": "VARCHAR", "resource_uuid": "VARCHAR", "created_at": "VARCHAR",
    "display_name": "VARCHAR", "external_id": "VARCHAR", "labels": "VARCHAR", "region": "VARCHAR",
    "memory_mb": "INTEGER", "generation": "VARCHAR", "status": "VARCHAR", "is_enabled": "BOOLEAN",
    "plan": "VARCHAR", "created_by": "VARCHAR", "integration_connections": "VARCHAR", "volumes": "VARCHAR",
    "provider": "VARCHAR", "valid_from": "VARCHAR", "size_bytes": "BIGINT", "attached_to": "VARCHAR"
  }]'
)
where valid_from is not null;
