--! about: How shared cost is split in the months from $from to $to, computed once for all partitions: a partition alone would
--! about: read all months. Each rule and owner has a number, so that hours are sorted without their names.
create or replace temp table lake_shares as
with
owners as (select * from lake_owners),
--! include: rules_and_mount_splits
pool_hours as (
  select
    owners.rule_number,
    series.account,
    cast(date_trunc('month', hourly_costs.bucket_start) as date) as usage_month,
    hourly_costs.cost,
    abs(hourly_costs.cost) as size
  from ledger.hourly_costs as hourly_costs
  join owners on owners.series_id = hourly_costs.series_id
  join ledger.series as series on series.series_id = hourly_costs.series_id
  where owners.is_split
    and hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
    and hourly_costs.bucket_start >= cast($from as timestamp)
    and hourly_costs.bucket_start < cast($to as timestamp)
),
--! include: pools_by_month
direct_numbers as (
  select
    direct_series.series_id,
    direct_series.from_time,
    cast(date_trunc('month', hourly_costs.bucket_start) as date) as usage_month,
    sum(hourly_costs.cost) as cost,
    sum(hourly_costs.usage) as usage
  from ledger.hourly_costs as hourly_costs
  join direct_series on direct_series.series_id = hourly_costs.series_id
  where hourly_costs.bucket_start >= direct_series.from_time
    and hourly_costs.bucket_start < direct_series.to_time
    and hourly_costs.bucket_start >= cast($from as timestamp)
    and hourly_costs.bucket_start < cast($to as timestamp)
  group by direct_series.series_id, direct_series.from_time, usage_month
),
--! include: shares_of_pools
;

create or replace temp table lake_parties as
with parties as (
  select rule, owner, team, product, environment
  from lake_owners
  union
  -- Shared cost that nobody shares.
  select rule, owner, null, null, null
  from lake_owners
  where is_split
  union
  select rule, owner, team, product, environment
  from lake_shares
)
select
  cast(row_number() over (order by rule, owner, team, product, environment) as integer) as party,
  rule,
  owner,
  team,
  product,
  environment
from parties;

create or replace temp table lake_owned as
select owners.series_id, owners.from_time, owners.to_time, parties.party
from lake_owners as owners
join lake_parties as parties
  on parties.rule = owners.rule
  and parties.owner = owners.owner
  and parties.team is not distinct from owners.team
  and parties.product is not distinct from owners.product
  and parties.environment is not distinct from owners.environment
where not owners.is_split;
