--! about: Every hour that the platform changed after it was loaded, with the old and the new value.
--! grain: account, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension, load_number
create or replace view restatements as
select
  restatements.account,
  restatements.bucket_start, --: Start of the hour that changed, UTC
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  restatements.old_cost,
  restatements.new_cost,
  restatements.old_usage,
  restatements.new_usage,
  restatements.load_number, --: Load that found the change
  restatements.seen_at --: When the change was found, UTC
from ledger.restatements as restatements
join ledger.series as series using (series_id);
