--! about: What did each workspace spend this month, on what?
--! grain: account, month, workspace, resource_type, billing_dimension, unit
--! params: month month = last-complete
--! formats: csv, parquet
select
  account,
  usage_month as month,
  workspace,
  resource_type,
  billing_dimension,
  unit,
  cast(sum(usage) as decimal(38, 6)) as usage,
  cast(sum(cost) as decimal(38, 12)) as cost
from costs_monthly
where usage_month = cast($month as date)
group by
  account,
  usage_month,
  workspace,
  resource_type,
  billing_dimension,
  unit
