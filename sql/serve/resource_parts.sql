--! about: What other listings show of a resource, in the accounts where the viewer sees costs of it: its image, its newest
--! about: snapshots, and its integration connections with their providers.
with seen as (
  select distinct account
  from visible_series
  where coalesce(resource_type, '') = $type
    and coalesce(workspace, '') = $workspace
    and coalesce(resource_name, '') = $name
),
connections as (
  select account, unnest(cast(from_json(integration_connections, '["VARCHAR"]') as varchar[])) as name
  from resources
  join seen using (account)
  where resource_type = $type and workspace = $workspace and resource_name = $name and valid_to is null
    and integration_connections is not null
)
select
  parts.resource_type as kind,
  parts.resource_name as name,
  parts.size_bytes,
  parts.provider,
  strftime(parts.created_at, '%Y-%m-%dT%H:%M:%SZ') as created_at,
  strftime(resource_use.last_used_at, '%Y-%m-%dT%H:%M:%SZ') as last_used_at
from resources as parts
join seen using (account)
left join resource_use using (account, workspace, resource_type, resource_name)
where parts.valid_to is null
  and parts.workspace = $workspace
  and (
    (parts.resource_type = 'image' and parts.resource_name = replace($type, 'mcp_server', 'function') || '/' || $name)
    or (parts.resource_type = 'snapshot' and $type = 'sandbox' and parts.attached_to = $name)
    or (parts.resource_type = 'connection' and (parts.account, parts.resource_name) in (select (account, name) from connections))
  )
order by parts.resource_type, parts.created_at desc, parts.resource_name
limit 30;
