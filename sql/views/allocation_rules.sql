--! about: The allocation rules in force, in their order, as the writer compiled them; of the ledger, for the views that
--! about: the public ones are made of. The rules lie in the books themselves, put there by the writer (at ingest, and by
--! about: "costbook allocation apply") and journalled: so any reader of the file, whatever folder it lies in, gets the
--! about: same owners, an answer as of an instant is by the rules of that instant, and a closed month, which answers as
--! about: of its close, keeps its owners when rules change. They are data and no SQL text, so that one set of views
--! about: serves the rules in force, those of any instant, and a draft that is only tried.
--! grain: rule_number
create or replace view ledger.allocation_rules as
with definition as (
  select
    from_json(
      coalesce(
        (select definition from ledger.allocations where replaced_at is null),
        -- Without any rules nothing has an owner.
        '{"dimensions": ["team", "product", "environment"], "aliases": [],
          "rules": [{"name": "default", "conditions": [], "owner": [], "split": null}]}'
      ),
      '{
        "dimensions": ["VARCHAR"],
        "aliases": [{"label": "VARCHAR", "alias": "VARCHAR", "value": "VARCHAR"}],
        "rules": [{
          "name": "VARCHAR", "from": "VARCHAR", "until": "VARCHAR",
          "conditions": [{
            "number": "INTEGER", "field": "VARCHAR", "kind": "VARCHAR", "value": "VARCHAR", "owner": "VARCHAR"
          }],
          "owner": [{"dimension": "VARCHAR", "value": "VARCHAR", "label": "VARCHAR"}],
          "split": {
            "by": "VARCHAR", "over": ["VARCHAR"], "billing_dimension": "VARCHAR",
            "owners": [{"owner": "VARCHAR", "weight": "VARCHAR"}]
          }
        }]
      }'
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
comment on view ledger.allocation_rules is 'The allocation rules in force, in their order; the last one is what stays for the default';
comment on column ledger.allocation_rules.rule_number is 'Place among the rules, from 1';
comment on column ledger.allocation_rules.rule is 'Name of the rule';
comment on column ledger.allocation_rules.from_time is 'Hours that begin here or later, UTC';
comment on column ledger.allocation_rules.to_time is 'Hours that begin before this, UTC';
comment on column ledger.allocation_rules.conditions is 'What must be so: of each number one, of all numbers';
comment on column ledger.allocation_rules.condition_count is 'How many numbers that are';
comment on column ledger.allocation_rules.owner is 'Where the owner''s dimensions come from';
comment on column ledger.allocation_rules.split is 'How what it catches is split over owners; null where it has one owner';
comment on column ledger.allocation_rules.dimensions is 'The dimensions of every owner';
comment on column ledger.allocation_rules.aliases is 'Misspelt values of labels, and what they stand for';
