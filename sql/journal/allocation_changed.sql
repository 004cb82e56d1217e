--! about: The allocation rules from now on; those that were in force before stay with the instant at which they ended.
--! about: The definition is null where there are none any more.
update ledger.allocations
set replaced_at = cast($recorded_at as timestamp)
where replaced_at is null;

insert into ledger.allocations
select $definition, cast($run_number as bigint), cast($recorded_at as timestamp), null
where $definition is not null;
