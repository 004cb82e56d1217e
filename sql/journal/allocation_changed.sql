--! about: The allocation rules from now on; the previous rules stay, with the instant at which they ended. The
--! about: definition is null if there are no rules any longer.
update ledger.allocations
set replaced_at = cast($recorded_at as timestamp)
where replaced_at is null;

insert into ledger.allocations
select $definition, cast($run_number as bigint), cast($recorded_at as timestamp), null
where $definition is not null;
