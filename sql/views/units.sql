--! about: The unit of each series' usage; of the ledger, for the views that the public ones are made of.
--! grain: series_id
create or replace view ledger.units as
select
  series.series_id,
  coalesce(billing_dimensions.unit, min(unit_suffixes.unit)) as unit
from ledger.series as series
left join ledger.billing_dimensions as billing_dimensions using (billing_dimension)
left join ledger.unit_suffixes as unit_suffixes on ends_with(series.billing_dimension, unit_suffixes.suffix)
group by series.series_id, billing_dimensions.unit;
comment on view ledger.units is 'Unit of each series'' usage';
comment on column ledger.units.series_id is 'Series';
comment on column ledger.units.unit is 'Unit of usage; null where it is not known';
