--! about: The books as tables of Parquet for any engine, with all costs by hour. Only changed files are rewritten.
--! for: finance
--! grain: account, month, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension
--! partition: account, month
--! formats: parquet
select
  account,
  strftime(bucket_start, '%Y-%m') as month,
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
from costs
