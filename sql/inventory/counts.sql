--! about: How many resources a listing contains; and how many that were known have no known end: in the workspaces that the
--! about: listing speaks for, and in all that its token lists. A resource with a lifetime, an expiry or a policy that ends
--! about: it may be gone without a word, and so may one that was being deleted, and a sandbox of the last seven days.
with lasting as (
  select states.workspace, states.resource_name, states.resource_uuid, states.created_at
  from ledger.resources as states
  left join ledger.resource_use as resource_use
    on resource_use.account = states.account
    and resource_use.resource_type = states.resource_type
    and resource_use.workspace = states.workspace
    and resource_use.resource_name = states.resource_name
    and resource_use.resource_uuid is not distinct from states.resource_uuid
    and resource_use.created_at is not distinct from states.created_at
  where states.account = $account
    and states.resource_type = $resource_type
    and states.valid_to is null
    and resource_use.expires_at is null
    and resource_use.time_to_live is null
    and resource_use.expiration_policies is null
    and not coalesce(states.resource_type = 'sandbox' and states.created_at > cast($now as timestamp) - interval 7 days, false)
    and coalesce(states.status not in ('TERMINATED', 'TERMINATING', 'DELETING', 'DELETED'), true)
)
select
  (select count(*) from listed) as listed,
  (select count(*) from lasting semi join known using (workspace)) as known,
  (
    select count(*)
    from lasting
    where case
      when $token_workspace is null
        then not list_contains(cast(from_json($workspaces_elsewhere, '["VARCHAR"]') as varchar[]), workspace)
      else workspace = $token_workspace
    end
  ) as known_of_kind;
