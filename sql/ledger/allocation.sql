--! about: The definition of the allocation rules in force; no row where there are none.
select definition from ledger.allocations where replaced_at is null;
