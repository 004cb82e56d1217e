--! about: On how many earlier days in a row a listing was read to its end and had shrunk.
select count(distinct cast(read_at as date)) as days
from ledger.listings
where account = $account
  and token_workspace is not distinct from $token_workspace
  and resource_type = $resource_type
  and outcome = 'shrunk'
  and cast(read_at as date) < cast(cast($now as timestamp) as date)
  and read_at > coalesce(
    (
      select max(read_at)
      from ledger.listings
      where account = $account
        and token_workspace is not distinct from $token_workspace
        and resource_type = $resource_type
        and outcome in ('read', 'partial')
    ),
    timestamp '1970-01-01'
  )
