--! about: The newest events and changed settings of a resource.
with
--! include: deployments
named as (
  select *
  from deployments
  where resource_name = $name and (workspace = $workspace or $workspace is null)
)
select
  account, workspace, resource_type, resource_name,
  strftime(happened_after, '%Y-%m-%dT%H:%M:%SZ') as happened_after,
  strftime(happened_by, '%Y-%m-%dT%H:%M:%SZ') as happened_by,
  is_event, event_type, status, message, revision, settings
from named
order by happened_by desc, account, workspace, resource_type, is_event, revision, status
limit 101;
