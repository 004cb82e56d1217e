--! about: The resource types and billing dimensions of each account that have rows without UUID.
--! grain: account, resource_type, billing_dimension
select distinct account, resource_type, billing_dimension
from series
where resource_uuid is null
order by account, resource_type nulls first, billing_dimension nulls first
