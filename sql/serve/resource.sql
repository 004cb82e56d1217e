--! about: The resources behind an address: a type, a workspace and a name, each as text, as none, or by its MD5.
select
  account,
  resource_type,
  workspace,
  resource_name,
  to_json(list(distinct resource_uuid order by resource_uuid) filter (resource_uuid is not null)) as uuids
from visible_series
where case when $type_any then true when $type_md5 is null then coalesce(resource_type, '') = $type else md5(resource_type) = $type_md5 end
  and case when $workspace_any then true when $workspace_md5 is null then coalesce(workspace, '') = $workspace else md5(workspace) = $workspace_md5 end
  and case when $name_md5 is null then coalesce(resource_name, '') = $name else md5(resource_name) = $name_md5 end
group by account, resource_type, workspace, resource_name
order by resource_type, workspace, account
limit 200;
