--! about: The current allocation rules in order, as compiled. Internal: public views build on it. The writer stores the
--! about: rules in the books (at ingest, and by "costbook allocation apply") and journals them. So every reader of the
--! about: file gets the same owners, an answer as of an instant uses the rules of that instant, and a closed month
--! about: keeps its owners when rules change. Rules are data and not SQL text, so that one set of views serves the
--! about: current rules, earlier rules, and a draft that is only tried.
--! grain: rule_number
create or replace view ledger.allocation_rules as
with definition as (
  select
    from_json(
      coalesce(
        (select definition from ledger.allocations where replaced_at is null),
        -- Without rules, no cost has an owner.
        --! include: no_allocation_rules
      ),
      --! include: allocation_definition
    ) as parsed
),
numbered as (
  select parsed, unnest(range(1, len(parsed.rules) + 1)) as rule_number
  from definition
)
select
  cast(rule_number as integer) as rule_number,
  parsed.rules[rule_number].name as rule,
  coalesce(cast(parsed.rules[rule_number]."from" as timestamp), cast('-infinity' as timestamp)) as from_time,
  coalesce(cast(parsed.rules[rule_number]."until" as timestamp), cast('infinity' as timestamp)) as to_time,
  parsed.rules[rule_number].conditions as conditions,
  coalesce(list_max(list_transform(parsed.rules[rule_number].conditions, lambda condition : condition.number)), 0)
    as condition_count,
  parsed.rules[rule_number].owner as owner,
  parsed.rules[rule_number].split as split,
  parsed.dimensions as dimensions,
  parsed.aliases as aliases
from numbered;
comment on view ledger.allocation_rules is 'The current allocation rules in order; the last one is the default';
comment on column ledger.allocation_rules.rule_number is 'Position of the rule, from 1';
comment on column ledger.allocation_rules.rule is 'Name of the rule';
comment on column ledger.allocation_rules.from_time is 'The rule applies to hours that start at this instant or later, UTC';
comment on column ledger.allocation_rules.to_time is 'The rule applies to hours that start before this instant, UTC';
comment on column ledger.allocation_rules.conditions is 'Conditions of the rule: it matches if at least one condition of every number is met';
comment on column ledger.allocation_rules.condition_count is 'How many condition numbers the rule has';
comment on column ledger.allocation_rules.owner is 'Where the owner''s dimensions come from';
comment on column ledger.allocation_rules.split is 'How the rule splits its costs over owners; null if it has one owner';
comment on column ledger.allocation_rules.dimensions is 'The dimensions of every owner';
comment on column ledger.allocation_rules.aliases is 'Misspelt label values, each with the value that replaces it';
