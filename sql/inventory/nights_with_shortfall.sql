--! about: On how many earlier days a listing was read to its last page with this shortfall, since it last had another.
with readings as (
  select read_at, shortfall
  from ledger.listings
  where account = $account
    and token_workspace is not distinct from $token_workspace
    and resource_type = $resource_type
    and outcome in ('read', 'partial', 'shrunk')
)
select count(distinct cast(read_at as date)) as days
from readings
where shortfall = cast($shortfall as bigint)
  and read_at > coalesce(
    (select max(read_at) from readings where shortfall is distinct from cast($shortfall as bigint)),
    timestamp '1970-01-01'
  )
  and cast(read_at as date) < cast(cast($now as timestamp) as date);
