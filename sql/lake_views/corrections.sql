--! about: The view corrections over the lake.
select
  account,
  billing_month,
  cast(date_trunc('month', bucket_start) as date) as usage_month,
  bucket_start,
  bucket_end,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  billing_dimension,
  unit,
  cost,
  usage,
  series_id
from lake.costs_billed
where charge_class = 'Correction'
