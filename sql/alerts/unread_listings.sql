--! about: The listings whose last attempt did not give all resources.
--! grain: account, token_workspace, resource_type
with
--! include: unread_listings
select account, token_workspace, resource_type, outcome, reason, step
from unread_listings
order by
  account,
  case outcome when 'refused' then 0 when 'shrunk' then 1 when 'failed' then 2 else 3 end,
  step nulls last,
  token_workspace,
  resource_type
