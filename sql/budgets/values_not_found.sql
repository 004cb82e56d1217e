--! about: Scope values of budgets that no series has, with some that exist. A misspelled name would never have any costs.
--! grain: scope_key, scope_value
with asked as (
  select distinct value.key as scope_key, value.value as scope_value, value.pattern as pattern
  from (
    select unnest(from_json($asked, '[{"key": "VARCHAR", "value": "VARCHAR", "pattern": "VARCHAR"}]')) as value
  )
),
known as (
  select 'account' as scope_key, account as scope_value from accounts
  union
  select 'workspace', workspace from series
  union
  select 'resource_type', resource_type from series
  union
  select 'resource_name', resource_name from series
  union
  select 'billing_dimension', billing_dimension from series
)
select
  asked.scope_key,
  asked.scope_value,
  (
    select list(known.scope_value order by known.scope_value)
    from known
    where known.scope_key = asked.scope_key and known.scope_value is not null
  )[:1000] as known_values
from asked
where not exists (
  select 1
  from known
  where known.scope_key = asked.scope_key and known.scope_value like asked.pattern escape '\'
)
order by asked.scope_key, asked.scope_value
