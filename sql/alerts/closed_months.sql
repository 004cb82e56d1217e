--! about: The change of each closed month since its close, by account, with the part that each month bills, the resources
--! about: that changed most, and the closed months to reopen, so that the month itself can bill the change.
--! grain: account, month
with parts as (
  select
    account, usage_month, billing_month, cast(sum(cost) as decimal(38, 12)) as cost, count(*) as corrections
  from corrections
  group by account, usage_month, billing_month
),
moved as (
  select
    account,
    usage_month,
    cast(sum(cost) as decimal(38, 12)) as cost,
    cast(sum(corrections) as bigint) as corrections,
    to_json(
      list({'month': strftime(billing_month, '%Y-%m'), 'cost': cast(cost as varchar)} order by billing_month)
    ) as billed
  from parts
  group by account, usage_month
),
drivers as (
  select account, usage_month, workspace, resource_type, resource_name, cast(sum(cost) as decimal(38, 12)) as cost
  from corrections
  group by account, usage_month, workspace, resource_type, resource_name
  qualify
    row_number() over (
      partition by account, usage_month order by abs(sum(cost)) desc, workspace, resource_type, resource_name
    ) <= 3
)
select
  moved.account,
  strftime(moved.usage_month, '%Y-%m') as month,
  cast(moved.cost as varchar) as cost,
  moved.corrections,
  moved.billed,
  (
    select string_agg(strftime(billing_month, '%Y-%m'), ',' order by billing_month)
    from ledger.closed_months
    where closed_months.billing_month >= moved.usage_month
  ) as reopen,
  -- A month that begins before the books of the account cannot be closed again.
  (
    select strftime(moved.usage_month, '%Y-%m-%d')
    from ledger.accounts
    where accounts.account = moved.account and accounts.history_start > moved.usage_month
  ) as since,
  to_json(
    list(
      {
        'account': drivers.account,
        'workspace': drivers.workspace,
        'resourceType': drivers.resource_type,
        'resourceName': drivers.resource_name,
        'cost': cast(drivers.cost as varchar)
      }
      order by abs(drivers.cost) desc, drivers.workspace, drivers.resource_type, drivers.resource_name
    )
  ) as drivers
from moved
join drivers using (account, usage_month)
group by moved.account, moved.usage_month, moved.cost, moved.corrections, moved.billed
order by moved.account, moved.usage_month
