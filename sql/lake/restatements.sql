--! about: Every hour that the platform changed after it was loaded, old and new value.
--! grain: account, workspace, resource_type, resource_name, resource_uuid, billing_dimension, bucket_start, load_number
--! partition: account, month
--! follows: hours, restatements
select
  restatements.bucket_start,
  names.workspace,
  names.resource_type,
  names.resource_name,
  names.resource_uuid,
  names.billing_dimension,
  restatements.old_cost,
  restatements.new_cost,
  restatements.old_usage,
  restatements.new_usage,
  restatements.load_number,
  restatements.seen_at,
  names.series_id
from ledger.restatements as restatements
join lake_series as names using (series_id)
where names.account = $account
  and restatements.bucket_start >= cast($start as timestamp)
  and restatements.bucket_start < cast($end as timestamp)
order by names.place, restatements.bucket_start, restatements.load_number
