--! about: The newest reading of each listing of resources.
select
  account,
  token_workspace,
  resource_type,
  strftime(read_at, '%Y-%m-%dT%H:%M:%SZ') as read_at,
  outcome,
  reason,
  next_step,
  resources
from listings
where is_last
order by outcome = 'read', account, token_workspace nulls first, resource_type;
