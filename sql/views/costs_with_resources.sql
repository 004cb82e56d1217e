--! about: Every row of costs once, with the resource's state when the hour started. Hours before the first known state
--! about: have that first state; the columns are null if no listing contains the resource.
--! grain: account, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension
create or replace view costs_with_resources as
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
  hourly_costs.usage,
  hourly_costs.series_id,
  resources_of_series.display_name,
  resources_of_series.external_id,
  resources_of_series.labels,
  resources_of_series.region, --: Region where the resource is deployed
  resources_of_series.memory_mb,
  resources_of_series.generation,
  resources_of_series.status as resource_status --: Deployment status
from ledger.hourly_costs as hourly_costs
join series using (series_id)
left join ledger.resources_of_series as resources_of_series
  on resources_of_series.series_id = hourly_costs.series_id
  and resources_of_series.from_time <= hourly_costs.bucket_start
  and resources_of_series.to_time > hourly_costs.bucket_start;
