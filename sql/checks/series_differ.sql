--! about: No two series have the same account and dimensions.
--! severity: fail
select
  account,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  billing_dimension,
  count(*) as series
from ledger.series
group by account, workspace, resource_type, resource_name, resource_uuid, billing_dimension
having count(*) > 1
order by account, workspace, resource_type, resource_name, resource_uuid, billing_dimension
