--! about: The end of a query: how shared cost is split over owners, as the view allocation_shares. From the CTEs owners (as
--! about: the view allocation_owners) and counted_hours (series_id, bucket_start, cost, usage): all hours of whole months.
--! include: rules_and_mount_splits
pool_hours as (
  select
    owners.rule_number,
    series.account,
    cast(date_trunc('month', hourly_costs.bucket_start) as date) as usage_month,
    hourly_costs.cost,
    abs(hourly_costs.cost) as size
  from counted_hours as hourly_costs
  join owners on owners.series_id = hourly_costs.series_id
  join ledger.series as series on series.series_id = hourly_costs.series_id
  where owners.is_split
    and hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
),
--! include: pools_by_month
direct_numbers as (
  select
    direct_series.series_id,
    direct_series.from_time,
    cast(date_trunc('month', hourly_costs.bucket_start) as date) as usage_month,
    sum(hourly_costs.cost) as cost,
    sum(hourly_costs.usage) as usage
  from counted_hours as hourly_costs
  join direct_series on direct_series.series_id = hourly_costs.series_id
  where hourly_costs.bucket_start >= direct_series.from_time
    and hourly_costs.bucket_start < direct_series.to_time
    and hourly_costs.bucket_start >= (select min(usage_month) from pools)
    and hourly_costs.bucket_start < (select max(usage_month) + interval 1 month from pools)
  group by direct_series.series_id, direct_series.from_time, usage_month
),
--! include: shares_of_pools
