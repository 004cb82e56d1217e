--! about: The listings of an account that are not due: those that were read within their days ($every), and those that the
--! about: platform refused within the last week and never served to this token; not if it serves no listing at all, which is
--! about: an alert. Half a day less, because nights do not begin at the same second.
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
select attempts.token_workspace, attempts.resource_type
from attempts
left join (
  select unnest(from_json($every, '[{"resource_type": "VARCHAR", "days": "INTEGER"}]'), recursive := true)
) as periods using (resource_type)
where case
  when outcome = 'refused' and not is_served
    then read_at > cast($now as timestamp) - interval 7 days and (select bool_or(is_served) from attempts)
  when outcome = 'read' and periods.days > 1
    then read_at > cast($now as timestamp) - to_days(periods.days) + interval 12 hours
end
