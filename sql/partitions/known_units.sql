--! about: The units that the program knows; the public views depend on them.
select billing_dimension, resource_type, unit from ledger.billing_dimensions
union all
select suffix, null, unit from ledger.unit_suffixes
order by all;
