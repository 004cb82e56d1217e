--! about: The ledger row of a load.
insert into ledger.loads
select
  cast($load_number as bigint),
  cast($run_number as bigint),
  $account,
  cast($window_start as timestamp),
  cast($window_end as timestamp),
  $reason,
  $role,
  $outcome,
  cast($requests as integer),
  cast($pages as integer),
  $queries,
  cast($row_count as bigint),
  cast($restated as bigint),
  cast($cost as decimal(38, 12)),
  cast($claimed_end as timestamp),
  cast($seen_at as timestamp),
  $landing,
  cast($platform_at as timestamp);
