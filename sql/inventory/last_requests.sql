--! about: The requests that each listing of an account took when it was last asked for.
select token_workspace, resource_type, arg_max(requests, (read_at, run_number)) as requests
from ledger.listings
where account = $account
group by token_workspace, resource_type
order by resource_type, token_workspace
