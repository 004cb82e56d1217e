--! about: The events of a listing that the books do not have yet, and the runtimes that differ from the known ones.
create or replace temp table new_events as
select
  row_number() over (order by event_time, workspace, resource_name, revision, status, event_type, message) - 1 as position,
  *
from (
  select workspace, resource_name, event_time, event_type, status, message, revision, canary_revision
  from staged_events
  except
  select workspace, resource_name, event_time, event_type, status, message, revision, canary_revision
  from ledger.resource_events
  where account = $account
    and resource_type = $resource_type
    and event_time >= (select min(event_time) from staged_events)
);

create or replace temp table new_runtimes as
with
-- A resource that moved to another page during the read arrives twice; the last one is newest.
listed as (
  select *
  from staged_runtimes
  qualify row_number() over (partition by workspace, resource_name, created_at order by arrival desc) = 1
),
known as (
  select workspace, resource_name, created_at, image, revision, min_scale, max_scale
  from ledger.resource_runtimes
  where account = $account and resource_type = $resource_type
  qualify row_number() over (partition by workspace, resource_name, created_at order by recorded_at desc) = 1
)
select
  row_number() over (order by listed.workspace, listed.resource_name, listed.created_at nulls first) - 1 as position,
  listed.workspace,
  listed.resource_name,
  listed.created_at,
  listed.image,
  listed.revision,
  listed.min_scale,
  listed.max_scale,
  case
    when listed.updated_at > cast($read_before as timestamp) and listed.updated_at <= cast($read_at as timestamp)
      then listed.updated_at
    else cast($read_at as timestamp)
  end as changed_by
from listed
left join known
  on known.workspace = listed.workspace
  and known.resource_name = listed.resource_name
  and known.created_at is not distinct from listed.created_at
-- What never had a runtime, such as a policy, has no row.
where known.image is distinct from listed.image
  or known.revision is distinct from listed.revision
  or known.min_scale is distinct from listed.min_scale
  or known.max_scale is distinct from listed.max_scale;
