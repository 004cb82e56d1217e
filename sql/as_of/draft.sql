--! about: Draft allocation rules, as if they had always been active.
drop view ledger.allocations;

create table ledger.allocations as
select
  $draft as definition,
  0 as run_number,
  cast('1970-01-01' as timestamp) as recorded_at,
  cast(null as timestamp) as replaced_at;
