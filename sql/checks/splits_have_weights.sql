--! about: Every shared cost is split as its rule says, because at least one owner has weight. If no owner has any, the
--! about: cost is split evenly; if nobody owns any cost in the month, it has no owner.
--! severity: warn
--! hours: by month
with
-- From one list of owners: the views would each find out the owners, which takes longer than the check itself.
--! include: few_owners
splits as materialized (
  with
  --! include: shares_of_owners
),
shared as (
  select
    series.account,
    cast(date_trunc('month', hourly_costs.bucket_start) as date) as usage_month,
    owners.rule,
    cast(sum(hourly_costs.cost) as decimal(38, 12)) as cost
  from ledger.hourly_costs as hourly_costs
  join owners on owners.series_id = hourly_costs.series_id
  join ledger.series as series on series.series_id = hourly_costs.series_id
  where owners.is_split
    and hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
  group by series.account, usage_month, owners.rule
)
select
  account,
  usage_month,
  rule,
  split_by,
  max(pool_cost) as shared_cost,
  count(*) as owners,
  'split evenly: no owner has any weight' as reason
from splits
where is_evenly_instead
group by account, usage_month, rule, split_by
union all
select account, usage_month, rule, null, cost, 0, 'no owner: nobody owns any cost in this month'
from shared
anti join splits using (account, usage_month, rule)
order by usage_month, account, rule
