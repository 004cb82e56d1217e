--! about: The workspaces of an account that have listed resources, and the types of these.
select workspace, resource_type
from ledger.resources
where account = $account and valid_to is null
group by workspace, resource_type
order by workspace, resource_type;
