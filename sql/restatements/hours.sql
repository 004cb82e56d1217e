--! about: Every hour of a series that changed after it was loaded.
select
  account, strftime(bucket_start, '%Y-%m-%dT%H:%M:%SZ') as bucket_start,
  workspace, resource_type, resource_name, resource_uuid, billing_dimension,
  old_cost, new_cost, old_usage, new_usage,
  strftime(seen_at, '%Y-%m-%dT%H:%M:%SZ') as seen_at
from restatements
where seen_at >= cast($seen_from as timestamp)
order by
  restatements.seen_at, account, restatements.bucket_start,
  workspace, resource_type, resource_name, resource_uuid, billing_dimension;
