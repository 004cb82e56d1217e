--! about: The outcome of reading a listing.
insert into ledger.listings (
  run_number, account, token_workspace, resource_type, outcome, reason, resources, opened, ended, requests, read_at,
  next_step, shortfall
)
select
  cast($run_number as bigint), $account, $token_workspace, $resource_type, $outcome, $reason,
  cast($resources as bigint), cast($opened as bigint), cast($ended as bigint), cast($requests as integer),
  cast($read_at as timestamp), $next_step, cast($shortfall as bigint);
