--! about: Cost and usage by hour, as in costs; the columns of this view never change.
--! grain: account, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension
create or replace view costs_v1 as
select
  series.account,
  hourly_costs.bucket_start,
  hourly_costs.bucket_start + interval 1 hour as bucket_end,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  series.unit,
  hourly_costs.cost,
  hourly_costs.usage
from ledger.hourly_costs as hourly_costs
join series using (series_id);
