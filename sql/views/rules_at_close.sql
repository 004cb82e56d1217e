--! about: The allocation rules by which closed months were charged that were corrected since.
--! grain: rule_number
-- Internal: public views build on it. A month that was closed without rules has the current ones. They are one list,
-- with the dimensions and aliases of all, as the current rules are.
create or replace view ledger.rules_at_close as
with
corrected as (
  select distinct usage_month
  from ledger.changes_after_close
),
charged_by as (
  select
    closed_months.billing_month as month,
    coalesce(
      arg_max(allocations.definition, (allocations.recorded_at, allocations.run_number)),
      (select definition from ledger.allocations where replaced_at is null),
      --! include: no_allocation_rules
    ) as definition
  from ledger.closed_months as closed_months
  join corrected on corrected.usage_month = closed_months.billing_month
  left join ledger.allocations as allocations
    on allocations.recorded_at <= closed_months.closed_at
    and (allocations.replaced_at is null or allocations.replaced_at > closed_months.closed_at)
  group by closed_months.billing_month
),
-- Neighbours with the same rules are one period: each period has a copy of its rules.
periods as (
  select
    any_value(definition) as definition,
    cast(min(month) as timestamp) as period_start,
    cast(max(month) + interval 1 month as timestamp) as period_end
  from (
    select *, count(*) filter (is_new) over (order by month) as period
    from (select *, definition is distinct from lag(definition) over (order by month) as is_new from charged_by)
  )
  group by period
),
parsed_periods as (
  select
    period_start,
    period_end,
    from_json(
      definition,
      --! include: allocation_definition
    ) as parsed
  from periods
),
dimensions as (
  select list(dimension order by period_start desc, place) as dimensions
  from (
    select dimension, max(period_start) as period_start, arg_max(place, period_start) as place
    from (
      select period_start, unnest(parsed.dimensions) as dimension, unnest(range(1, len(parsed.dimensions) + 1)) as place
      from parsed_periods
    )
    group by dimension
  )
),
-- Of two meanings of one spelling, the newest applies.
aliases as (
  select coalesce(list({'label': label, 'alias': alias, 'value': value} order by label, alias), []) as aliases
  from (
    select entry.label as label, entry.alias as alias, arg_max(entry.value, period_start) as value
    from (select period_start, unnest(parsed.aliases) as entry from parsed_periods)
    group by entry.label, entry.alias
  )
),
numbered as (
  select period_start, period_end, unnest(parsed.rules) as rule, unnest(range(1, len(parsed.rules) + 1)) as place
  from parsed_periods
)
select
  cast(row_number() over (order by numbered.period_start, numbered.place) as integer) as rule_number,
  numbered.rule.name as rule,
  greatest(coalesce(cast(numbered.rule."from" as timestamp), numbered.period_start), numbered.period_start) as from_time,
  least(coalesce(cast(numbered.rule."until" as timestamp), numbered.period_end), numbered.period_end) as to_time,
  numbered.rule.conditions as conditions,
  coalesce(list_max(list_transform(numbered.rule.conditions, lambda condition : condition.number)), 0) as condition_count,
  numbered.rule.owner as owner,
  numbered.rule.split as split,
  dimensions.dimensions,
  aliases.aliases
from numbered
cross join dimensions
cross join aliases;
