--! about: What many pages of the dashboard read, computed once for each snapshot: owners, costs by day, shared costs, corrections.
--! about: An owner's time may start within a day, so days are divided there. The sums are exact.
create or replace table memory.main.owners as
select series_id, from_time, to_time, rule_number, rule, owner, is_split, is_mounted, mount_split
from ledger.allocation_owners;

create or replace table memory.main.states as
select series_id, from_time, to_time, labels, region
from ledger.series_states;

create or replace table memory.main.facts as
select series_id, from_time, field, value
from ledger.allocation_facts
where mounter = 0;

create or replace table memory.main.mounts as
select series_id, mounter, from_time, to_time, resource_type, resource_name
from ledger.volume_mounts;

create or replace table memory.main.day_costs as
select
  hourly_costs.series_id,
  owners.from_time,
  date_trunc('day', hourly_costs.bucket_start) as day,
  cast(sum(hourly_costs.cost) as decimal(38, 12)) as cost,
  cast(sum(hourly_costs.usage) as decimal(38, 6)) as usage,
  -- Hours of the day, which take the least memory.
  cast(hour(min(hourly_costs.bucket_start)) as utinyint) as first_hour,
  cast(hour(max(hourly_costs.bucket_start) filter (hourly_costs.usage > 0)) as utinyint) as last_used_hour
from hourly_costs
join memory.main.owners as owners
  on owners.series_id = hourly_costs.series_id
  and hourly_costs.bucket_start >= owners.from_time
  and hourly_costs.bucket_start < owners.to_time
group by all;

create or replace table memory.main.pool_hours as
select
  owners.rule_number,
  any_value(owners.rule) as rule,
  any_value(owners.owner) as owner,
  series.account,
  hourly_costs.bucket_start,
  cast(date_trunc('month', hourly_costs.bucket_start) as date) as usage_month,
  cast(sum(hourly_costs.cost) as decimal(38, 12)) as cost,
  cast(sum(abs(hourly_costs.cost)) as decimal(38, 12)) as size
from hourly_costs
join memory.main.owners as owners on owners.series_id = hourly_costs.series_id
join ledger.series as series on series.series_id = hourly_costs.series_id
where owners.is_split
  and hourly_costs.bucket_start >= owners.from_time
  and hourly_costs.bucket_start < owners.to_time
group by owners.rule_number, series.account, hourly_costs.bucket_start;

create or replace table memory.main.shares as
with
owners as (select * from memory.main.owners),
pool_hours as (select * from memory.main.pool_hours),
--! include: rules_and_mount_splits
--! include: pools_by_month
direct_numbers as (
  select
    series_id,
    from_time,
    cast(date_trunc('month', day) as date) as usage_month,
    sum(cost) as cost,
    sum(usage) as usage
  from memory.main.day_costs
  group by all
),
--! include: shares_of_pools
;

create or replace table memory.main.shared_costs as
with
shares as (select * from memory.main.shares),
--! include: proportions
pools as (select * from memory.main.pool_hours),
--! include: shared_cost_of_pools
;

create or replace table memory.main.owner_corrections as
select billing_month, usage_month, owner, cast(sum(cost) as decimal(38, 12)) as cost
from corrections_allocated
group by billing_month, usage_month, owner;
