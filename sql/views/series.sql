--! about: Every series: what its number stands for, and in which unit its usage is counted.
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
comment on view series is 'Every combination of account and the five dimensions that ever had cost or usage, and the unit of that usage';
comment on column series.series_id is 'Number of the series, the same in every warehouse';
comment on column series.account is 'Account that pays';
comment on column series.workspace is 'Workspace; null where the cost belongs to none or the token may not see it';
comment on column series.resource_type is 'Resource type as the platform names it';
comment on column series.resource_name is 'Resource name';
comment on column series.resource_uuid is 'Resource UUID or instance id; null where the platform gives none';
comment on column series.billing_dimension is 'What is billed';
comment on column series.unit is 'Unit of usage; null where it is not known';
