--! about: How many hours were restated in a period, by how much cost, and of which days. Those that were too young to be
--! about: complete when they were loaded do not count: it was known that they would change.
select
  count(*) as hours, cast(coalesce(sum(coalesce(restatements.new_cost, 0) - coalesce(restatements.old_cost, 0)), 0) as varchar) as cost,
  strftime(min(restatements.bucket_start), '%Y-%m-%d') as first_day, strftime(max(restatements.bucket_start), '%Y-%m-%d') as last_day
from ledger.restatements as restatements
left join ledger.loads as loads on loads.load_number = restatements.old_load_number
where restatements.seen_at > cast($since as timestamp)
  and restatements.seen_at <= cast($now as timestamp)
  and (loads.claimed_end is null or restatements.bucket_start < loads.claimed_end);
