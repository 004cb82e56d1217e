--! about: The resource types that showed rows without uuid, which an admin can ask for by workspace.
select distinct resource_type
from incoming_series
where resource_uuid is null and resource_type is not null
order by resource_type;
