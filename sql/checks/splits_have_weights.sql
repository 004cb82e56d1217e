--! about: Every shared cost is split as its rule says, because at least one owner has weight. If no owner has any, the
--! about: cost is split evenly; if nobody owns any cost in the month, it has no owner.
--! severity: warn
--! hours: by month
select
  account,
  usage_month,
  rule,
  split_by,
  max(pool_cost) as shared_cost,
  count(*) as owners,
  'split evenly: no owner has any weight' as reason
from allocation_splits
where is_evenly_instead
group by account, usage_month, rule, split_by
union all
select
  costs_allocated.account,
  cast(date_trunc('month', costs_allocated.bucket_start) as date) as usage_month,
  costs_allocated.rule,
  null,
  sum(costs_allocated.cost),
  0,
  'no owner: nobody owns any cost in this month'
from costs_allocated
anti join allocation_splits
  on allocation_splits.account = costs_allocated.account
  and allocation_splits.usage_month = cast(date_trunc('month', costs_allocated.bucket_start) as date)
  and allocation_splits.rule = costs_allocated.rule
where costs_allocated.is_shared
group by costs_allocated.account, usage_month, costs_allocated.rule
order by usage_month, account, rule
