--! about: What the platform last said about the use of each resource: the newest values only, without a history.
--! about: Resources without any of these values have no row.
--! grain: account, workspace, resource_type, resource_name, created_at, resource_uuid
-- Only the newest values are stored.
create or replace view resource_use as
select
  account,
  workspace, --: Workspace that contains the resource
  resource_type, --: Resource type, as costs name it
  resource_name,
  resource_uuid, --: Resource UUID; null if the listing has none
  runtime_state, --: Runtime state of a sandbox: RUNNING or STANDBY
  last_used_at, --: When a sandbox was last used, or an image last deployed, UTC
  min_scale, --: Instances that are always warm
  expires_at, --: When the resource expires, UTC
  time_to_live, --: Duration after which the resource expires, as the platform writes it
  expiration_policies, --: Expiration policies, a JSON array of objects with action, type and value; null if it has none
  created_at, --: When the platform says the resource was created, UTC
  recorded_at --: When Costbook saw these values first, UTC
from ledger.resource_use;
