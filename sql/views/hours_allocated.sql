--! about: Cost and usage by hour and owner, without names.
--! grain: series_id, bucket_start, owner
-- Internal: reports sum them by series and owner, and join the names of the few sums: the names of every hour take
-- several times as long.
create or replace view ledger.hours_allocated as
with
--! include: few_owners
shares as materialized (
  with
  --! include: shares_of_owners
),
unsplit_hours as not materialized (select series_id, bucket_start, cost, usage from ledger.hourly_costs),
--! include: split_costs
allocated as (
  select
    hourly_costs.series_id,
    hourly_costs.bucket_start,
    owners.owner,
    false as is_shared,
    hourly_costs.cost,
    hourly_costs.usage
  from ledger.hourly_costs as hourly_costs
  join owners on owners.series_id = hourly_costs.series_id
  where not owners.is_split
    and hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
  union all
  select series_id, bucket_start, owner, true, cost, usage
  from split
)
select series_id, bucket_start, owner, is_shared, cost, usage
from allocated;
