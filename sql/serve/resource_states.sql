--! about: The states of a resource, newest first, in the accounts where the viewer sees costs of it.
select
  account,
  strftime(valid_from, '%Y-%m-%dT%H:%M:%SZ') as valid_from,
  strftime(valid_to, '%Y-%m-%dT%H:%M:%SZ') as valid_to,
  strftime(created_at, '%Y-%m-%dT%H:%M:%SZ') as created_at,
  status,
  is_enabled,
  memory_mb,
  region,
  generation,
  plan,
  display_name,
  external_id,
  coalesce(people.name, created_by) as created_by,
  size_bytes,
  attached_to,
  volumes,
  provider,
  labels
from resources
left join (
  select account as of_account, resource_name as id, any_value(display_name) as name
  from resources
  where resource_type in ('user', 'service_account') and valid_to is null
  group by account, resource_name
) as people on people.of_account = account and people.id = created_by
where coalesce(resource_type, '') = $type
  and coalesce(workspace, '') = $workspace
  and coalesce(resource_name, '') = $name
  and account in (
    select account
    from visible_series
    where coalesce(resource_type, '') = $type
      and coalesce(workspace, '') = $workspace
      and coalesce(resource_name, '') = $name
  )
  -- An owner sees the states in the time in which it owns the resource and has costs.
  and (
    not $is_owner
    or valid_to is null
    or valid_to > (
      select min(greatest(days.bucket_start, days.valid_at))
      from visible_days as days
      join visible_series as series using (series_id)
      where coalesce(series.resource_type, '') = $type
        and coalesce(series.workspace, '') = $workspace
        and coalesce(series.resource_name, '') = $name
    )
  )
  and (
    not $is_owner
    or exists (
      select 1
      from visible_ownership as ownership
      join visible_series as series using (series_id)
      where coalesce(series.resource_type, '') = $type
        and coalesce(series.workspace, '') = $workspace
        and coalesce(series.resource_name, '') = $name
        and ownership.from_time < coalesce(resources.valid_to, cast('infinity' as timestamp))
        and ownership.to_time > resources.valid_from
    )
  )
order by valid_from desc, account
limit 100;
