--! about: Corrections of closed months by the owner of the hour that they correct.
--! grain: account, billing_month, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension, owner
--! cost: cost
--! version: 1
--! follows: corrections
from corrections_allocated
order by account, billing_month, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension, owner
