--! about: One part of a load's window, with the role that fetched it. Hours that were lost count since the lost load.
insert into ledger.covered
select
  $account, cast($part_start as timestamp), cast($part_end as timestamp), cast($claimed_end as timestamp), $role,
  cast($load_number as bigint), cast($since_load as bigint), null;
