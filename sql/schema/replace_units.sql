--! about: Replaces the billing dimensions and unit suffixes that the program knows.
delete from ledger.billing_dimensions;

insert into ledger.billing_dimensions
select name, "resourceType", unit
from (
  select unnest(
    from_json($billing_dimensions, '[{"name": "VARCHAR", "resourceType": "VARCHAR", "unit": "VARCHAR"}]'),
    recursive := true
  )
);

delete from ledger.unit_suffixes;

insert into ledger.unit_suffixes
select suffix, unit
from (select unnest(from_json($unit_suffixes, '[{"suffix": "VARCHAR", "unit": "VARCHAR"}]'), recursive := true));
