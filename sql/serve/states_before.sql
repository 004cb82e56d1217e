--! about: States of the resources $names (a JSON list) of a workspace and type that started between $from and $to.
select
  resource_name,
  strftime(valid_from, '%Y-%m-%dT%H:%M:%SZ') as valid_from,
  strftime(created_at, '%Y-%m-%dT%H:%M:%SZ') as created_at,
  status,
  memory_mb,
  region,
  generation,
  plan
from resources
where account = $account
  and workspace is not distinct from $workspace
  and resource_type is not distinct from $resource_type
  and list_contains(from_json($names, '["VARCHAR"]'), resource_name)
  and valid_from >= cast($from as timestamp) and valid_from < cast($to as timestamp)
order by valid_from desc, resource_name
limit 20;
