--! about: Every hour that changed after it had been loaded, old and new.
--! grain: account, bucket_start, workspace, resource_type, resource_name, resource_uuid, billing_dimension, load_number
create or replace view restatements as
select
  restatements.account,
  restatements.bucket_start,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  restatements.old_cost,
  restatements.new_cost,
  restatements.old_usage,
  restatements.new_usage,
  restatements.load_number,
  restatements.seen_at
from ledger.restatements as restatements
join ledger.series as series using (series_id);
comment on view restatements is 'Every hour that changed after it had been loaded';
comment on column restatements.account is 'Account that pays';
comment on column restatements.bucket_start is 'Start of the hour that changed, UTC';
comment on column restatements.workspace is 'Workspace; null where the cost belongs to none or the token may not see it';
comment on column restatements.resource_type is 'Resource type as the platform names it';
comment on column restatements.resource_name is 'Resource name';
comment on column restatements.resource_uuid is 'Resource UUID or instance id; null where the platform gives none';
comment on column restatements.billing_dimension is 'What is billed';
comment on column restatements.old_cost is 'USD before; null where the series had no row';
comment on column restatements.new_cost is 'USD after; null where the row is gone';
comment on column restatements.old_usage is 'Usage before';
comment on column restatements.new_usage is 'Usage after';
comment on column restatements.load_number is 'Load that saw the change';
comment on column restatements.seen_at is 'When it was seen, UTC';
