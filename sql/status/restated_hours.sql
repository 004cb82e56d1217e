--! about: How many hours were restated in a period, and by how much cost.
select count(*) as hours, cast(coalesce(sum(coalesce(new_cost, 0) - coalesce(old_cost, 0)), 0) as varchar) as cost
from ledger.restatements where seen_at > cast($since as timestamp) and seen_at <= cast($now as timestamp);
