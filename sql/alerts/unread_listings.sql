--! about: The listings whose last attempt did not give all resources.
--! grain: account, token_workspace, resource_type
with
--! include: unread_listings
,
last_read as (
  select account, coalesce(token_workspace, '') as token_workspace, resource_type, max(read_at) as read_at
  from listings
  where outcome = 'read'
  group by all
)
select
  account, token_workspace, resource_type, outcome, reason, step,
  epoch_ms(read_at) as read_at,
  -- The first attempt since it was read to its last page.
  (
    select epoch_ms(min(tries.read_at))
    from listings as tries
    left join last_read on
      last_read.account = tries.account
      and last_read.token_workspace = coalesce(tries.token_workspace, '')
      and last_read.resource_type = tries.resource_type
    where tries.account = unread_listings.account
      and tries.resource_type = unread_listings.resource_type
      and coalesce(tries.token_workspace, '') = coalesce(unread_listings.token_workspace, '')
      and (last_read.read_at is null or tries.read_at > last_read.read_at)
  ) as failing_since,
  -- When it was last read to its last page; null if it never was.
  (
    select strftime(last_read.read_at, '%Y-%m-%dT%H:%M:%SZ')
    from last_read
    where last_read.account = unread_listings.account
      and last_read.resource_type = unread_listings.resource_type
      and last_read.token_workspace = coalesce(unread_listings.token_workspace, '')
  ) as last_read_at
from unread_listings
order by
  account,
  case outcome when 'refused' then 0 when 'shrunk' then 1 when 'failed' then 2 else 3 end,
  step nulls last,
  token_workspace,
  resource_type
