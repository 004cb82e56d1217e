--! about: How much each closed month changed after its close, and which part of the change each month bills.
with parts as (
  select usage_month, billing_month, sum(cost) as cost, count(*) as corrections
  from corrections
  group by usage_month, billing_month
)
select
  strftime(usage_month, '%Y-%m') as month,
  cast(cast(sum(cost) as decimal(38, 12)) as varchar) as cost,
  cast(sum(corrections) as bigint) as corrections,
  to_json(
    list(
      {'month': strftime(billing_month, '%Y-%m'), 'cost': cast(cast(cost as decimal(38, 12)) as varchar)}
      order by billing_month
    )
  ) as billed
from parts
group by usage_month
order by usage_month;
