--! about: The view allocation_rules over the lake, where its lists are JSON text.
select
  rule_number,
  rule,
  from_time,
  to_time,
  from_json(
    conditions,
    '[{"number": "INTEGER", "field": "VARCHAR", "kind": "VARCHAR", "value": "VARCHAR", "owner": "VARCHAR"}]'
  ) as conditions,
  condition_count,
  from_json(owner, '[{"dimension": "VARCHAR", "value": "VARCHAR", "label": "VARCHAR"}]') as owner,
  from_json(
    split,
    '{"by": "VARCHAR", "over": ["VARCHAR"], "billing_dimension": "VARCHAR",
      "owners": [{"owner": "VARCHAR", "weight": "VARCHAR"}]}'
  ) as split,
  from_json(dimensions, '["VARCHAR"]') as dimensions,
  from_json(aliases, '[{"label": "VARCHAR", "alias": "VARCHAR", "value": "VARCHAR"}]') as aliases
from lake.allocation_rules
