--! about: Cost and usage by hour, one row per series and hour; hours with neither have no row.
--! grain: account, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension
create or replace view costs as
select
  account,
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
from costs_v1;
