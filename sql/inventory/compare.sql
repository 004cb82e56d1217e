--! about: What a new listing changes, one row per resource that differs: the period of the known state (null: there was
--! about: none) and the new state (null: none).
create or replace temp table state_changes as
with
-- A change happened between the previous listing and this one; if the platform reports when, then at that time.
changed as (
  select
    listed.*,
    known.valid_from as old_valid_from,
    case
      when known.valid_from is null then null
      when listed.updated_at > known.valid_from
        and listed.updated_at > cast($read_before as timestamp)
        and listed.updated_at <= cast($read_at as timestamp)
        then listed.updated_at
      else cast($read_at as timestamp)
    end as changed_at
  from listed
  left join known
    on known.workspace = listed.workspace
    and known.resource_name = listed.resource_name
    and known.resource_uuid is not distinct from listed.resource_uuid
    and known.created_at is not distinct from listed.created_at
  where known.valid_from is null
    or known.display_name is distinct from listed.display_name
    or known.external_id is distinct from listed.external_id
    or known.labels is distinct from listed.labels
    or known.region is distinct from listed.region
    or known.memory_mb is distinct from listed.memory_mb
    or known.generation is distinct from listed.generation
    or known.status is distinct from listed.status
    or known.is_enabled is distinct from listed.is_enabled
    or known.plan is distinct from listed.plan
    or known.created_by is distinct from listed.created_by
    or known.integration_connections is distinct from listed.integration_connections
    or known.volumes is distinct from listed.volumes
    or known.provider is distinct from listed.provider
    or known.size_bytes is distinct from listed.size_bytes
    or known.attached_to is distinct from listed.attached_to
),
-- A resource that had disappeared reappears when it is seen; a new one exists since its creation.
last_ends as (
  select workspace, resource_name, resource_uuid, created_at, max(valid_to) as ended
  from ledger.resources
  where account = $account and resource_type = $resource_type
  group by workspace, resource_name, resource_uuid, created_at
),
gone as (
  select known.workspace, known.resource_name, known.resource_uuid, known.created_at, known.valid_from
  from known
  anti join listed
    on listed.workspace = known.workspace
    and listed.resource_name = known.resource_name
    and listed.resource_uuid is not distinct from known.resource_uuid
    and listed.created_at is not distinct from known.created_at
),
-- Only one resource has a name at a time: the present one started when the previous one had ended.
followed as (
  select gone.workspace, gone.resource_name, gone.resource_uuid, gone.created_at, min(listed.created_at) as ended
  from gone
  join listed
    on listed.workspace = gone.workspace
    and listed.resource_name = gone.resource_name
    and listed.created_at > gone.valid_from
    and listed.created_at <= cast($read_at as timestamp)
  group by gone.workspace, gone.resource_name, gone.resource_uuid, gone.created_at
),
changes as (
  select
    changed.workspace,
    changed.resource_name,
    changed.resource_uuid,
    changed.created_at,
    changed.old_valid_from,
    changed.changed_at as old_valid_to,
    case
      when changed.changed_at is not null then changed.changed_at
      when last_ends.ended is null and changed.created_at <= cast($read_at as timestamp) then changed.created_at
      else cast($read_at as timestamp)
    end as valid_from,
    changed.display_name,
    changed.external_id,
    changed.labels,
    changed.region,
    changed.memory_mb,
    changed.generation,
    changed.status,
    changed.is_enabled,
    changed.plan,
    changed.created_by,
    changed.integration_connections,
    changed.volumes,
    changed.provider,
    changed.size_bytes,
    changed.attached_to
  from changed
  left join last_ends
    on last_ends.workspace = changed.workspace
    and last_ends.resource_name = changed.resource_name
    and last_ends.resource_uuid is not distinct from changed.resource_uuid
    and last_ends.created_at is not distinct from changed.created_at
  union all
  select
    gone.workspace, gone.resource_name, gone.resource_uuid, gone.created_at, gone.valid_from,
    coalesce(followed.ended, cast($read_at as timestamp)),
    null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null
  from gone
  left join followed
    on followed.workspace = gone.workspace
    and followed.resource_name = gone.resource_name
    and followed.resource_uuid is not distinct from gone.resource_uuid
    and followed.created_at is not distinct from gone.created_at
  where cast($ends_absent as boolean)
)
select
  row_number() over (
    order by workspace, resource_name, created_at nulls first, resource_uuid nulls first
  ) - 1 as position,
  *
from changes;
