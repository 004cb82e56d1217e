--! about: Resource listings whose last fetch was incomplete, so labels may be missing or old. Includes a listing refused to
--! about: one token if no other token could read it. Leaves out listings of resources without costs.
--! grain: account, resource_type
select
  account,
  resource_type,
  arg_min(outcome, coalesce(token_workspace, '')) as outcome,
  max(epoch_ms(read_at)) as read_at
from listings
semi join series using (account, resource_type)
where is_last
  and (
    outcome in ('partial', 'shrunk', 'failed')
    or outcome = 'refused' and not exists (
      select 1
      from listings as other
      where other.is_last
        and other.account = listings.account
        and other.resource_type = listings.resource_type
        and other.outcome = 'read'
    )
  )
group by account, resource_type
order by account, resource_type
