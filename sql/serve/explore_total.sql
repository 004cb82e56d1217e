--! about: What a window cost, with the filters of explore.
select cast(coalesce(sum(hours.cost), 0) as decimal(38, 12)) as cost
from visible_hours as hours
join visible_series as series using (series_id)
where hours.bucket_start >= cast($from as timestamp) and hours.bucket_start < cast($to as timestamp)
  and ($account is null or series.account = $account)
  and ($workspace is null or coalesce(series.workspace, '') = $workspace)
  and ($resource_type is null or coalesce(series.resource_type, '') = $resource_type)
  and ($resource_name is null or coalesce(series.resource_name, '') = $resource_name)
  and ($billing_dimension is null or series.billing_dimension = $billing_dimension);
