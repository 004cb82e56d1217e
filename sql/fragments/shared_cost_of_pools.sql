--! about: The end of a query: the cost of each hour and pool by owner. From the CTEs proportions and pools (rule_number,
--! about: rule, owner, account, bucket_start, usage_month, cost).
in_units as (
  select *, cast(cost * 1000000000000 as hugeint) as cost_units
  from pools
),
in_order as (
  select
    *,
    cast(sum(cost_units) over up_to as hugeint) as through,
    cast(sum(cost_units) over up_to as hugeint) - cost_units as before,
    lead(bucket_start) over up_to is null as is_last
  from in_units
  window up_to as (partition by rule_number, account, usage_month order by bucket_start)
)
select
  in_order.rule_number,
  in_order.rule,
  in_order.account,
  in_order.bucket_start,
  -- Without owners, the cost stays with the rule.
  coalesce(proportions.owner, in_order.owner) as owner,
  case
    when proportions.owner is null then in_order.cost
    else cast(
      cast(
        --! include: part_of_shared_cost
        as decimal(38, 0)
      ) * 0.000000000001 as decimal(38, 12)
    )
  end as cost
from in_order
left join proportions
  on proportions.rule_number = in_order.rule_number
  and proportions.account = in_order.account
  and proportions.usage_month = in_order.usage_month
