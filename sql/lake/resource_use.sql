--! about: What the platform last said about the use of each resource.
--! grain: account, workspace, resource_type, resource_name, created_at, resource_uuid
--! version: 1
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
from resource_use
order by account, workspace, resource_type, resource_name, created_at, resource_uuid
