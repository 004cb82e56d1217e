--! about: The labels of each state of a resource, one row per label.
--! grain: account, workspace, resource_type, resource_name, created_at, resource_uuid, valid_from, label
select
  account,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  created_at,
  valid_from,
  valid_to,
  label,
  json_extract_string(labels, '/' || replace(replace(label, '~', '~0'), '/', '~1')) as value
from (
  select *, unnest(json_keys(labels)) as label
  from resources
  where labels is not null
)
order by account, workspace, resource_type, resource_name, created_at, resource_uuid, valid_from, recorded_at, label
