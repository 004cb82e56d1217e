--! about: How many hours were restated in a period, by how much cost, in all and by month, and of which days. Those that were
--! about: too young to be complete when they were loaded do not count: it was known that they would change.
with by_month as (
  select
    strftime(restatements.bucket_start, '%Y-%m') as month,
    count(*) as hours,
    coalesce(sum(coalesce(restatements.new_cost, 0) - coalesce(restatements.old_cost, 0)), 0) as cost,
    min(restatements.bucket_start) as first_hour,
    max(restatements.bucket_start) as last_hour
  from ledger.restatements as restatements
  left join ledger.loads as loads on loads.load_number = restatements.old_load_number
  where restatements.seen_at > cast($since as timestamp)
    and restatements.seen_at <= cast($now as timestamp)
    and (loads.claimed_end is null or restatements.bucket_start < loads.claimed_end)
  group by month
)
select
  cast(coalesce(sum(hours), 0) as bigint) as hours,
  cast(coalesce(sum(cost), 0) as varchar) as cost,
  strftime(min(first_hour), '%Y-%m-%d') as first_day,
  strftime(max(last_hour), '%Y-%m-%d') as last_day,
  to_json(list({'month': month, 'cost': cast(cost as varchar)} order by month)) as months
from by_month;
