--! about: By how much closed months moved after their close, by account, with what moved most.
--! grain: account, month
with moved as (
  select
    account,
    usage_month,
    cast(sum(cost) as decimal(38, 12)) as cost,
    count(*) as corrections,
    string_agg(distinct strftime(billing_month, '%Y-%m'), ',' order by strftime(billing_month, '%Y-%m')) as months
  from corrections
  group by account, usage_month
),
drivers as (
  select
    account,
    usage_month,
    coalesce(resource_type, '(no type)') || ' ' || coalesce(resource_name, '(no name)') as name,
    cast(sum(cost) as decimal(38, 12)) as cost
  from corrections
  group by account, usage_month, name
  qualify row_number() over (partition by account, usage_month order by abs(sum(cost)) desc, name) <= 3
)
select
  moved.account,
  strftime(moved.usage_month, '%Y-%m') as month,
  cast(moved.cost as varchar) as cost,
  moved.corrections,
  moved.months,
  to_json(
    list({'name': drivers.name, 'cost': cast(drivers.cost as varchar)} order by abs(drivers.cost) desc, drivers.name)
  ) as drivers
from moved
join drivers using (account, usage_month)
group by moved.account, moved.usage_month, moved.cost, moved.corrections, moved.months
order by moved.account, moved.usage_month
