--! about: Stand-in.
--! grain: account, billing_month, charge_class, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension
create or replace view costs_billed as
select
  account,
  cast(date_trunc('month', bucket_start) as date) as billing_month,
  cast(null as varchar) as charge_class,
  bucket_start,
  bucket_end,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  billing_dimension,
  unit,
  cost,
  usage
from costs;
