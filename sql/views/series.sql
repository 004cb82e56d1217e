--! about: Every series: what its number stands for, and in which unit its usage is counted.
--! grain: series_id
create or replace view series as
with suffixed as (
  -- A unit by its own, once for each dimension: there are few of them, and many series.
  select named.billing_dimension, min(unit_suffixes.unit) as unit
  from (select distinct billing_dimension from ledger.series) as named
  join ledger.unit_suffixes as unit_suffixes on ends_with(named.billing_dimension, unit_suffixes.suffix)
  group by named.billing_dimension
)
select
  series.series_id,
  series.account,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  coalesce(listed.unit, suffixed.unit) as unit
from ledger.series as series
left join ledger.billing_dimensions as listed using (billing_dimension)
left join suffixed using (billing_dimension);
comment on view series is 'Every combination of account and the five dimensions that ever had cost or usage, and the unit of that usage';
comment on column series.series_id is 'Number of the series, the same in every warehouse';
comment on column series.account is 'Account that pays';
comment on column series.workspace is 'Workspace; null where the cost belongs to none or the token may not see it';
comment on column series.resource_type is 'Resource type as the platform names it';
comment on column series.resource_name is 'Resource name';
comment on column series.resource_uuid is 'Resource UUID or instance id; null where the platform gives none';
comment on column series.billing_dimension is 'What is billed';
comment on column series.unit is 'Unit of usage; null where it is not known';
