--! about: The rules whose shared cost of a month was split evenly, or had no owners to share it.
--! about: A null bound is open.
with pools as (
  select rule, account, date_trunc('month', bucket_start) as usage_month, bool_and(not contains(owner, ':"')) as is_lost
  from costs_allocated
  where is_shared
    and ($from is null or bucket_start >= cast($from as timestamp))
    and ($to is null or bucket_start < cast($to as timestamp))
  group by rule, account, usage_month
),
level as (
  select distinct rule, account, usage_month from allocation_splits where is_evenly_instead
)
select
  pools.rule,
  count(*) as months,
  case
    when pools.is_lost then 'it stays without an owner: nobody owns anything in the month'
    else 'it is split evenly: no owner weighs anything'
  end as reason
from pools
left join level on level.rule = pools.rule and level.account = pools.account and level.usage_month = pools.usage_month
where pools.is_lost or level.rule is not null
group by pools.rule, reason
order by pools.rule, reason;
