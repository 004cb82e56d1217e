--! about: Every series: the names behind its number, and the unit of its usage.
--! grain: series_id
create or replace view series as
select
  series.series_id,
  series.account,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  units.unit
from ledger.series as series
left join ledger.units as units using (billing_dimension);
comment on view series is 'Every combination of account, workspace, resource type, resource name, resource UUID and billing dimension that ever had cost or usage, with the unit of that usage';
comment on column series.series_id is 'Number of the series, the same in every warehouse';
comment on column series.account is 'Billing account';
comment on column series.workspace is 'Workspace; null if the cost belongs to none, or if the token has no access to workspaces';
comment on column series.resource_type is 'Resource type, as the platform names it';
comment on column series.resource_name is 'Resource name';
comment on column series.resource_uuid is 'Resource UUID or instance ID; null if the platform reports none';
comment on column series.billing_dimension is 'Billing dimension: what is metered and priced';
comment on column series.unit is 'Unit of usage; null if unknown';
