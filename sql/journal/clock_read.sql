--! about: How far our clock was ahead of the platform's.
insert into ledger.clocks
select
  $account, cast($run_number as bigint), cast($ahead_seconds as bigint), cast($platform_at as timestamp),
  cast($local_at as timestamp);
