--! about: The last attempt to read a listing that had one of these outcomes.
select outcome, resources, epoch_ms(read_at) as read_at
from ledger.listings
where account = $account
  and token_workspace is not distinct from $token_workspace
  and resource_type = $resource_type
  and list_contains(cast(from_json($outcomes, '["VARCHAR"]') as varchar[]), outcome)
order by read_at desc, run_number desc
limit 1;
