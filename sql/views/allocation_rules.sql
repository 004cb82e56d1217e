--! about: The current allocation rules in order; the last one is the default.
--! grain: rule_number
-- Internal: public views build on it. The writer stores the rules in the books (at ingest, and by "costbook allocation
-- apply") and journals them. So every reader of the file gets the same owners, an answer as of an instant uses the
-- rules of that instant, and a closed month keeps its owners when rules change. Rules are data and not SQL text, so
-- that one set of views serves the current rules, earlier rules, and a draft that is only tried.
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
  cast(rule_number as integer) as rule_number, --: Position of the rule, from 1
  parsed.rules[rule_number].name as rule, --: Name of the rule
  coalesce(cast(parsed.rules[rule_number]."from" as timestamp), cast('-infinity' as timestamp)) as from_time, --: The rule applies to hours that start at this instant or later, UTC
  coalesce(cast(parsed.rules[rule_number]."until" as timestamp), cast('infinity' as timestamp)) as to_time, --: The rule applies to hours that start before this instant, UTC
  parsed.rules[rule_number].conditions as conditions, --: Conditions of the rule: it matches if at least one condition of every number is met
  coalesce(list_max(list_transform(parsed.rules[rule_number].conditions, lambda condition : condition.number)), 0)
    as condition_count, --: How many condition numbers the rule has
  parsed.rules[rule_number].owner as owner, --: Where the owner's dimensions come from
  parsed.rules[rule_number].split as split, --: How the rule splits its costs over owners; null if it has one owner
  parsed.dimensions as dimensions, --: The dimensions of every owner
  parsed.aliases as aliases --: Misspelt label values, each with the value that replaces it
from numbered;
