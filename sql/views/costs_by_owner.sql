--! about: Cost by hour and owner, by the current allocation rules; shared cost is not divided by resource.
--! grain: account, bucket_start, series_id, rule, owner
-- Internal: reports that do not name resources build on it.
create or replace view ledger.costs_by_owner as
with
--! include: few_owners
shared as (
  with
  --! include: shared_cost_by_hour
)
select
  series.account,
  hourly_costs.series_id, --: Number of the series; null for shared cost
  hourly_costs.bucket_start,
  owners.rule, --: Allocation rule that applied
  owners.owner, --: Owner of the cost: a JSON object with the rules' dimensions in order
  false as is_shared, --: Whether a rule splits this cost over owners; if so, cost is this owner's share
  hourly_costs.cost
from ledger.hourly_costs as hourly_costs
join owners on owners.series_id = hourly_costs.series_id
join ledger.series as series on series.series_id = hourly_costs.series_id
where not owners.is_split
  and hourly_costs.bucket_start >= owners.from_time
  and hourly_costs.bucket_start < owners.to_time
union all
select account, null, bucket_start, rule, owner, true, cost
from shared;
