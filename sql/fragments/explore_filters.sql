--! about: CTE filters: the conditions of explore as one list, from the JSON list $filters. `listed` are the values that costs must
--! about: have, or with `is_except` must not have; '' stands for no value.
filters as materialized (
  select from_json($filters, '[{"of": "VARCHAR", "pointer": "VARCHAR", "listed": ["VARCHAR"], "has_shared": "BOOLEAN", "is_except": "BOOLEAN"}]') as conditions
),
