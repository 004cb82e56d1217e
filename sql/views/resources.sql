--! about: States of each resource according to the platform's listings, one row per state; the current state has no
--! about: valid_to.
--! grain: account, workspace, resource_type, resource_name, created_at, resource_uuid, valid_from
create or replace view resources as
select
  account,
  workspace, --: Workspace that contains the resource
  resource_type, --: Resource type, as costs name it; also image, snapshot, connection, workspace, user and service_account
  resource_name, --: Resource name; no other resource of the workspace has it at the same time
  resource_uuid, --: Resource UUID; null if the listing has none
  display_name,
  external_id,
  labels,
  region, --: Region where the resource is deployed; null if policies decide
  memory_mb,
  generation,
  status, --: Deployment status
  is_enabled, --: Whether the resource serves requests
  plan, --: Billing plan
  created_by, --: ID of the user or service account that created the resource
  integration_connections, --: Names of its integration connections, a JSON array; null if it has none
  volumes, --: Names of the volumes that it mounts, a JSON array, without ephemeral ones; null if its type mounts none, or if an earlier version wrote the state
  provider, --: Kind of provider behind a model or a connection; null for other types
  size_bytes, --: Size in bytes of an image or a volume; null if it is not known
  attached_to, --: What a volume is attached to, as type:name; of a snapshot, the name of its sandbox
  created_at, --: When the platform says the resource was created, UTC; the same name with another creation time is another resource
  valid_from, --: Start of this state, UTC
  valid_to, --: End of this state, UTC, exclusive; null for the current state
  recorded_at --: When Costbook saw this state, UTC
from ledger.resources;
