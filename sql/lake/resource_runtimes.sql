--! about: The image, revision and scale of each resource, each with the time by which it was listed first.
--! grain: account, workspace, resource_type, resource_name, created_at, changed_by
select
  account,
  workspace,
  resource_type,
  resource_name,
  created_at,
  image,
  revision,
  min_scale,
  max_scale,
  changed_by,
  recorded_at
from ledger.resource_runtimes
order by account, workspace, resource_type, resource_name, created_at, changed_by
