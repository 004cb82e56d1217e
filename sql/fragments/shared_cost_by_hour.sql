--! about: The end of a query: shared cost by hour and owner, as the view shared_costs. From the CTE owners (as the view
--! about: allocation_owners).
shares as materialized (
  with
  --! include: shares_of_owners
),
--! include: proportions
pools as (
  select
    owners.rule_number,
    any_value(owners.rule) as rule,
    any_value(owners.owner) as owner,
    series.account,
    hourly_costs.bucket_start,
    cast(date_trunc('month', hourly_costs.bucket_start) as date) as usage_month,
    cast(sum(hourly_costs.cost) as decimal(38, 12)) as cost
  from ledger.hourly_costs as hourly_costs
  join owners on owners.series_id = hourly_costs.series_id
  join ledger.series as series on series.series_id = hourly_costs.series_id
  where owners.is_split
    and hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
  group by owners.rule_number, series.account, hourly_costs.bucket_start
),
--! include: shared_cost_of_pools
