--! about: The cost of a period before and after allocation, the cost without an owner, and the owners.
--! about: A null bound is open.
with owned as (
  select owner, cast(sum(cost) as decimal(38, 12)) as cost
  from costs_allocated
  where ($from is null or bucket_start >= cast($from as timestamp))
    and ($to is null or bucket_start < cast($to as timestamp))
  group by owner
)
select
  (
    select cast(coalesce(sum(cost), 0) as decimal(38, 12))
    from ledger.hourly_costs
    where ($from is null or bucket_start >= cast($from as timestamp))
      and ($to is null or bucket_start < cast($to as timestamp))
  ) as cost,
  cast(coalesce(sum(cost), 0) as decimal(38, 12)) as allocated_cost,
  cast(coalesce(sum(cost) filter (not contains(owner, ':"')), 0) as decimal(38, 12)) as unallocated_cost,
  to_json(list({'owner': owner, 'cost': cast(cost as varchar)} order by cost desc, owner)) as owners
from owned;
