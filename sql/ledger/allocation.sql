--! about: The definition of the current allocation rules; no row if there are none.
select definition from ledger.allocations where replaced_at is null;
