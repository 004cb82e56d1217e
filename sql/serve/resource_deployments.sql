--! about: Events and changed settings of a resource, newest first, in the accounts where the viewer sees costs of it.
with
--! include: deployments
named as (
  select *
  from visible_series
  where coalesce(resource_type, '') = $type
    and coalesce(workspace, '') = $workspace
    and coalesce(resource_name, '') = $name
)
select
  workspace, resource_type, resource_name,
  strftime(happened_after, '%Y-%m-%dT%H:%M:%SZ') as happened_after,
  strftime(happened_by, '%Y-%m-%dT%H:%M:%SZ') as happened_by,
  is_event, event_type, status, message, revision, settings
from deployments
where resource_type = $type
  and workspace = $workspace
  and resource_name = $name
  and account in (select account from named)
  -- An owner sees what happened in the time in which it owns the resource.
  and (
    not $is_owner
    or exists (
      select 1
      from visible_ownership as ownership
      join named using (series_id)
      where deployments.happened_after >= ownership.from_time and deployments.happened_by < ownership.to_time
    )
  )
order by happened_by desc, is_event, revision, status
limit 300;
