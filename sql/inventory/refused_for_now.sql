--! about: The listings of an account that the platform refused within the last week and never served to this token; none if
--! about: it serves no listing at all, which is an alert.
with attempts as (
  select
    token_workspace,
    resource_type,
    arg_max(outcome, (read_at, run_number)) as outcome,
    max(read_at) as read_at,
    bool_or(outcome <> 'refused') as is_served
  from ledger.listings
  where account = $account
  group by token_workspace, resource_type
)
select token_workspace, resource_type
from attempts
where outcome = 'refused'
  and not is_served
  and read_at > cast($now as timestamp) - interval 7 days
  and (select bool_or(is_served) from attempts)
