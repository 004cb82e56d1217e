--! about: The shared cost of each hour by owner: what costs_allocated splits row by row, split once for each hour, with
--! about: exactly the same sums. Internal: public views and reports build on it.
--! grain: rule_number, account, bucket_start, owner
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
comment on view ledger.shared_costs is 'Shared cost by hour and owner, by the current allocation rules';
comment on column ledger.shared_costs.rule_number is 'Rule that splits the cost';
comment on column ledger.shared_costs.rule is 'Name of the rule';
comment on column ledger.shared_costs.account is 'Billing account';
comment on column ledger.shared_costs.bucket_start is 'Start of the hour, UTC';
comment on column ledger.shared_costs.owner is 'Owner of the part: a JSON object with the rules'' dimensions in order';
comment on column ledger.shared_costs.cost is 'Cost in USD';
