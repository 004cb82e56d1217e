--! about: The allocation rules in order; lists are JSON text.
--! grain: rule_number
select
  rule_number,
  rule,
  greatest(from_time, timestamp '1970-01-01') as from_time,
  least(to_time, timestamp '9999-12-31') as to_time,
  cast(to_json(conditions) as varchar) as conditions,
  condition_count,
  cast(to_json(owner) as varchar) as owner,
  case when split is not null then cast(to_json(split) as varchar) end as split,
  cast(to_json(dimensions) as varchar) as dimensions,
  cast(to_json(aliases) as varchar) as aliases
from ledger.allocation_rules
order by rule_number
