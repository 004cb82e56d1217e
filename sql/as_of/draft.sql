--! about: Allocation rules that are only tried, as if they had always been in force.
drop view ledger.allocations;

create table ledger.allocations as
select
  $draft as definition,
  0 as run_number,
  cast('1970-01-01' as timestamp) as recorded_at,
  cast(null as timestamp) as replaced_at;
