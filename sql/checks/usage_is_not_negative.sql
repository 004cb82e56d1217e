--! about: No usage is negative. (A cost may be: it is a credit.)
--! severity: warn
--! hours: by month
select account, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension, usage, cost
from costs
where usage < 0
