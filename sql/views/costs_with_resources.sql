--! about: Cost and usage by hour with the state of the resource in that hour: every row of costs once.
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
  resources_of_series.region,
  resources_of_series.memory_mb,
  resources_of_series.generation,
  resources_of_series.status as resource_status
from ledger.hourly_costs as hourly_costs
join series using (series_id)
left join ledger.resources_of_series as resources_of_series
  on resources_of_series.series_id = hourly_costs.series_id
  and resources_of_series.from_time <= hourly_costs.bucket_start
  and resources_of_series.to_time > hourly_costs.bucket_start;
comment on view costs_with_resources is 'Every row of costs once, with the resource''s state when the hour started. Hours before the first known state have that first state; the columns are null if no listing contains the resource';
comment on column costs_with_resources.account is 'Billing account';
comment on column costs_with_resources.bucket_start is 'Start of the hour, UTC';
comment on column costs_with_resources.bucket_end is 'End of the hour, UTC, exclusive';
comment on column costs_with_resources.workspace is 'Workspace; null if the cost belongs to none, or if the token has no access to workspaces';
comment on column costs_with_resources.resource_type is 'Resource type, as the platform names it';
comment on column costs_with_resources.resource_name is 'Resource name';
comment on column costs_with_resources.resource_uuid is 'Resource UUID or instance ID; null if the platform reports none';
comment on column costs_with_resources.billing_dimension is 'Billing dimension: what is metered and priced';
comment on column costs_with_resources.unit is 'Unit of usage; null if unknown';
comment on column costs_with_resources.cost is 'Cost in USD';
comment on column costs_with_resources.usage is 'Usage, in the unit of column unit';
comment on column costs_with_resources.series_id is 'Number of the series; view series has its names';
comment on column costs_with_resources.display_name is 'Display name';
comment on column costs_with_resources.external_id is 'Identifier that the resource''s owner chose';
comment on column costs_with_resources.labels is 'Labels, a JSON object with text values; null if it has none';
comment on column costs_with_resources.region is 'Region where the resource is deployed';
comment on column costs_with_resources.memory_mb is 'Memory in megabytes';
comment on column costs_with_resources.generation is 'Runtime generation';
comment on column costs_with_resources.resource_status is 'Deployment status';
