--! about: States of each resource, one row per state.
--! grain: account, workspace, resource_type, resource_name, created_at, resource_uuid, valid_from, recorded_at
--! version: 1
from resources
order by account, workspace, resource_type, resource_name, created_at, resource_uuid, valid_from, recorded_at
