--! about: Shared cost by hour and owner, by the current allocation rules.
--! grain: rule_number, account, bucket_start, owner
-- Internal: public views and reports build on it.
create or replace view ledger.shared_costs as
with
owners as materialized (select * from ledger.allocation_owners where is_split),
shares as materialized (select * from ledger.allocation_shares),
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
  where hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
  group by owners.rule_number, series.account, hourly_costs.bucket_start
),
--! include: shared_cost_of_pools
;
