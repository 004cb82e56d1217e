--! about: What the platform last said about the use of each resource.
--! grain: account, workspace, resource_type, resource_name, created_at, resource_uuid
--! version: 1
from resource_use
order by account, workspace, resource_type, resource_name, created_at, resource_uuid
