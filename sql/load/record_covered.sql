--! about: One part of a load's window, with the role that fetched it.
insert into ledger.covered
select
  $account, cast($part_start as timestamp), cast($part_end as timestamp), cast($claimed_end as timestamp), $role,
  cast($load_number as bigint), cast($load_number as bigint), null;
