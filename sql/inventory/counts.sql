--! about: How many resources a listing contains, how many were known in the workspaces that occur in it, and how many
--! about: of this type were known in all workspaces that its token lists.
select
  (select count(*) from listed) as listed,
  (select count(*) from known) as known,
  (
    select count(*)
    from ledger.resources
    where account = $account
      and resource_type = $resource_type
      and valid_to is null
      and case
        when $token_workspace is null
          then not list_contains(cast(from_json($workspaces_elsewhere, '["VARCHAR"]') as varchar[]), workspace)
        else workspace = $token_workspace
      end
  ) as known_of_kind;
