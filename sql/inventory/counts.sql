--! about: How many resources a listing contains; and how many that were known have no known end: in the workspaces that the
--! about: listing speaks for, and in all that its token lists. A resource with a lifetime, an expiry or a policy that ends
--! about: it may be gone without a word, and so may one that was being deleted.
with lasting as (
  select resources.workspace, resources.resource_name, resources.resource_uuid, resources.created_at
  from ledger.resources as resources
  left join ledger.resource_use as resource_use
    on resource_use.account = resources.account
    and resource_use.resource_type = resources.resource_type
    and resource_use.workspace = resources.workspace
    and resource_use.resource_name = resources.resource_name
    and resource_use.resource_uuid is not distinct from resources.resource_uuid
    and resource_use.created_at is not distinct from resources.created_at
  where resources.account = $account
    and resources.resource_type = $resource_type
    and resources.valid_to is null
    and resource_use.expires_at is null
    and resource_use.time_to_live is null
    and resource_use.expiration_policies is null
    and coalesce(resources.status not in ('TERMINATED', 'TERMINATING', 'DELETING', 'DELETED'), true)
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
