--! about: The end of a query: the conditions of rules that each series meets, as the view allocation_conditions_met. From
--! about: the CTEs rules (rule_number, conditions) and facts (as the view allocation_facts).
conditions as materialized (
  select rule_number, unnest(conditions, recursive := true)
  from rules
),
-- Each pattern is tried once per value, however many series have that value.
like_values as (
  select distinct conditions.rule_number, conditions.number, facts.field, facts.value
  from (select distinct field, value from facts where value is not null) as facts
  join conditions on conditions.field = facts.field
  where conditions.kind = 'like' and facts.value like conditions.value escape '\'
),
met as (
  select facts.series_id, facts.mounter, facts.from_time, conditions.rule_number, conditions.number, conditions.owner
  from facts
  join conditions on conditions.field = facts.field and conditions.value = facts.value
  where conditions.kind = 'is'
  union all
  select facts.series_id, facts.mounter, facts.from_time, like_values.rule_number, like_values.number, null
  from facts
  join like_values on like_values.field = facts.field and like_values.value = facts.value
  union all
  select facts.series_id, facts.mounter, facts.from_time, conditions.rule_number, conditions.number, null
  from facts
  join conditions on conditions.field = facts.field
  where conditions.kind = 'absent' and facts.value is null
)
select series_id, mounter, from_time, rule_number, number as condition_number, max(owner) as owner
from met
group by series_id, mounter, from_time, rule_number, number
