--! about: States of each resource, one row per state.
--! grain: account, workspace, resource_type, resource_name, created_at, resource_uuid, valid_from, recorded_at
--! version: 1
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
from resources
order by account, workspace, resource_type, resource_name, created_at, resource_uuid, valid_from, recorded_at
