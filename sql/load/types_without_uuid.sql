--! about: Resource types with rows without UUID, which an admin can query by workspace.
select distinct resource_type
from incoming_series
where resource_uuid is null and resource_type is not null
order by resource_type;
