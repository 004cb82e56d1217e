--! about: Every series: the names behind its number, and the unit of its usage.
--! grain: account, workspace, resource_type, resource_name, resource_uuid, billing_dimension, series_id
--! version: 1
from series
order by account, workspace, resource_type, resource_name, resource_uuid, billing_dimension, series_id
