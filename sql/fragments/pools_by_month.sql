--! about: CTEs pools and direct_series, from which shares_of_pools follows: shared cost by month, and the series with an owner.
--! about: From the CTEs owners (as the view allocation_owners) and pool_hours (rule_number, account, usage_month, cost, size).
pools as materialized (
  select
    rule_number,
    account,
    usage_month,
    cast(sum(cost) as decimal(38, 12)) as cost,
    cast(cast(sum(size) as decimal(38, 12)) * 1000000000000 as hugeint) as size
  from pool_hours
  group by rule_number, account, usage_month
),
-- Only accounts with shared cost are summed.
direct_series as (
  select owners.series_id, owners.from_time, owners.to_time, owners.owner, series.account, series.billing_dimension
  from owners
  join ledger.series as series using (series_id)
  where not owners.is_split and series.account in (select account from pools)
),
