--! about: The CTE unread_listings: the listings whose last attempt did not give all resources. A listing that the
--! about: platform has never served to this token counts only if it serves none at all: a member may not read every
--! about: listing. Listings that the last answered ingest did not ask for are switched off.
asked as (
  -- Without a request there was no attempt: the platform failed, or the token lost access.
  select account, max(run_number) as run_number
  from ledger.account_runs
  where exit_code = 0
  group by account
),
last as (
  select
    account,
    coalesce(token_workspace, '') as token_workspace,
    resource_type,
    outcome,
    reason,
    step,
    read_at
  from listings
  where
    is_last
    -- Without this list, workspaces are those that costs name.
    and (resource_type <> 'workspace' or outcome = 'failed')
    and run_number >= coalesce((select asked.run_number from asked where asked.account = listings.account), 0)
),
served as (
  select distinct account, coalesce(token_workspace, '') as token_workspace, resource_type
  from listings
  where outcome <> 'refused'
),
accounts_read as (
  select account, bool_and(outcome = 'refused') as serves_none
  from last
  group by account
),
unread_listings as (
  select
    last.account,
    nullif(last.token_workspace, '') as token_workspace,
    last.resource_type,
    last.outcome,
    last.reason,
    last.step,
    last.read_at
  from last
  join accounts_read using (account)
  left join served using (account, token_workspace, resource_type)
  where last.outcome <> 'read'
    and (last.outcome <> 'refused' or accounts_read.serves_none or served.account is not null)
)
