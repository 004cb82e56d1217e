--! about: The newest values of resources; instants as text. They replace earlier ones; of a resource that is gone, nothing
--! about: remains.
delete from ledger.resource_use as resource_use
using rows_in(
  $changes,
  '[{"workspace": "VARCHAR", "resource_name": "VARCHAR", "resource_uuid": "VARCHAR", "created_at": "VARCHAR"}]'
) as changes
where resource_use.account = $account
  and resource_use.resource_type = $resource_type
  and resource_use.workspace = changes.workspace
  and resource_use.resource_name = changes.resource_name
  and resource_use.resource_uuid is not distinct from changes.resource_uuid
  and resource_use.created_at is not distinct from cast(changes.created_at as timestamp);

insert into ledger.resource_use (
  account, resource_type, workspace, resource_name, resource_uuid, created_at, runtime_state, last_used_at, expires_at,
  time_to_live, expiration_policies, min_scale, details_of, recorded_at, run_number
)
select
  $account, $resource_type, workspace, resource_name, resource_uuid, cast(created_at as timestamp), runtime_state,
  cast(last_used_at as timestamp), cast(expires_at as timestamp), time_to_live, expiration_policies, min_scale,
  cast(details_of as timestamp),
  cast($seen_at as timestamp), cast($run_number as bigint)
from rows_in(
  $changes,
  '[{
    "workspace": "VARCHAR", "resource_name": "VARCHAR", "resource_uuid": "VARCHAR", "created_at": "VARCHAR",
    "runtime_state": "VARCHAR", "last_used_at": "VARCHAR", "expires_at": "VARCHAR", "time_to_live": "VARCHAR",
    "expiration_policies": "VARCHAR", "min_scale": "INTEGER", "details_of": "VARCHAR", "is_gone": "BOOLEAN"
  }]'
)
where not is_gone;
