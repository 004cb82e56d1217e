--! about: The newest states of a resource: what it was, from when until when.
select
  account, workspace, resource_type, display_name, labels, region, memory_mb, generation, status, is_enabled, plan,
  created_by, volumes, provider, strftime(created_at, '%Y-%m-%dT%H:%M:%SZ') as created_at,
  strftime(valid_from, '%Y-%m-%dT%H:%M:%SZ') as valid_from, strftime(valid_to, '%Y-%m-%dT%H:%M:%SZ') as valid_to
from resources
where resource_name = $name and (workspace = $workspace or $workspace is null)
order by valid_from desc nulls last, account, workspace, resource_type
limit 21;
