--! about: Every hour that the platform changed after it was loaded, old and new value.
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
comment on view restatements is 'Every hour that the platform changed after it was loaded, with the old and the new value';
comment on column restatements.account is 'Billing account';
comment on column restatements.bucket_start is 'Start of the hour that changed, UTC';
comment on column restatements.workspace is 'Workspace; null if the cost belongs to none, or if the token has no access to workspaces';
comment on column restatements.resource_type is 'Resource type, as the platform names it';
comment on column restatements.resource_name is 'Resource name';
comment on column restatements.resource_uuid is 'Resource UUID or instance ID; null if the platform reports none';
comment on column restatements.billing_dimension is 'Billing dimension: what is metered and priced';
comment on column restatements.old_cost is 'Cost in USD before the change; null if the series had no row';
comment on column restatements.new_cost is 'Cost in USD after the change; null if the row is gone';
comment on column restatements.old_usage is 'Usage before the change';
comment on column restatements.new_usage is 'Usage after the change';
comment on column restatements.load_number is 'Load that found the change';
comment on column restatements.seen_at is 'When the change was found, UTC';
