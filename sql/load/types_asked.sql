--! about: The resource types among the groups of a query; null if the platform names none.
select distinct resource_type
from staged_entries
where query = $query
order by resource_type;
