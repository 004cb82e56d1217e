--! about: The newest reading of each listing of resources: $rows of them, or all; all_rows says how many there are.
select
  account,
  token_workspace,
  resource_type,
  strftime(read_at, '%Y-%m-%dT%H:%M:%SZ') as read_at,
  outcome,
  reason,
  next_step,
  resources,
  count(*) over () as all_rows
from listings
where is_last
order by outcome = 'read', account, token_workspace nulls first, resource_type
limit cast($rows as bigint);
