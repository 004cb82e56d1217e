--! about: How shared cost is split in the months from $from to $to, computed once for all partitions: a partition alone would
--! about: read all months. Each rule and owner has a number, so that hours are sorted without their names.
create or replace temp table lake_shares as
with
owners as (select * from lake_owners),
counted_hours as not materialized (
  select series_id, bucket_start, cost, usage
  from ledger.hourly_costs
  where bucket_start >= cast($from as timestamp) and bucket_start < cast($to as timestamp)
),
--! include: shares_in_hours
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
