--! about: Every shared cost is split by what its rule says: some owner weighs something. Where none does it is split
--! about: evenly, and where nobody owns anything in the month it stays without an owner.
--! severity: warn
select
  account,
  usage_month,
  rule,
  split_by,
  max(pool_cost) as shared_cost,
  count(*) as owners,
  'split evenly: no owner weighs anything' as reason
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
  'without an owner: nobody owns anything in this month'
from costs_allocated
anti join allocation_splits
  on allocation_splits.account = costs_allocated.account
  and allocation_splits.usage_month = cast(date_trunc('month', costs_allocated.bucket_start) as date)
  and allocation_splits.rule = costs_allocated.rule
where costs_allocated.is_shared
group by costs_allocated.account, usage_month, costs_allocated.rule
order by usage_month, account, rule
