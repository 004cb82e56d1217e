--! about: How many hours were restated in a period, by how much cost, and of which days.
select
  count(*) as hours, cast(coalesce(sum(coalesce(new_cost, 0) - coalesce(old_cost, 0)), 0) as varchar) as cost,
  strftime(min(bucket_start), '%Y-%m-%d') as first_day, strftime(max(bucket_start), '%Y-%m-%d') as last_day
from ledger.restatements where seen_at > cast($since as timestamp) and seen_at <= cast($now as timestamp);
