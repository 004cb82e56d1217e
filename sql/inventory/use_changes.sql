--! about: The resources of a new listing whose newest values differ from the stored ones, and stored ones that are gone.
create or replace temp table use_changes as
with stored as (
  select *
  from ledger.resource_use
  where account = $account
    and resource_type = $resource_type
    and workspace in (select workspace from listed)
),
changes as (
  select
    listed.workspace, listed.resource_name, listed.resource_uuid, listed.created_at, listed.runtime_state,
    listed.last_used_at, listed.expires_at, listed.time_to_live, listed.expiration_policies, listed.min_scale, listed.details_of,
    false as is_gone
  from listed
  left join stored
    on stored.workspace = listed.workspace
    and stored.resource_name = listed.resource_name
    and stored.resource_uuid is not distinct from listed.resource_uuid
    and stored.created_at is not distinct from listed.created_at
  where stored.runtime_state is distinct from listed.runtime_state
    or stored.last_used_at is distinct from listed.last_used_at
    or stored.expires_at is distinct from listed.expires_at
    or stored.time_to_live is distinct from listed.time_to_live
    or stored.expiration_policies is distinct from listed.expiration_policies
    or stored.min_scale is distinct from listed.min_scale
    or stored.details_of is distinct from listed.details_of
  union all
  select
    stored.workspace, stored.resource_name, stored.resource_uuid, stored.created_at, null, null, null, null, null, null, null,
    true
  from stored
  anti join listed
    on listed.workspace = stored.workspace
    and listed.resource_name = stored.resource_name
    and listed.resource_uuid is not distinct from stored.resource_uuid
    and listed.created_at is not distinct from stored.created_at
  where cast($ends_absent as boolean)
)
select
  row_number() over (
    order by workspace, resource_name, created_at nulls first, resource_uuid nulls first
  ) - 1 as position,
  *
from changes;
