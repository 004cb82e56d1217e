--! about: Cost and usage by hour and owner; a shared cost has one row per owner.
--! grain: account, workspace, resource_type, resource_name, resource_uuid, billing_dimension, bucket_start, owner
--! partition: account, month
--! cost: cost
--! joins: in order
--! follows: hours, owners
--! figures: hours
with
owners as (select * from lake_owners where is_split),
shares as (
  select *
  from lake_shares
  where account = $account and usage_month = cast($start as date)
),
unsplit_hours as not materialized (
  select hourly_costs.series_id, hourly_costs.bucket_start, hourly_costs.cost, hourly_costs.usage
  from ledger.hourly_costs as hourly_costs
  join (select series_id from lake_series where account = $account) as ours using (series_id)
  where hourly_costs.bucket_start >= cast($start as timestamp) and hourly_costs.bucket_start < cast($end as timestamp)
),
--! include: split_costs
allocated as (
  select hours.series_id, hours.bucket_start, owned.party, false as is_shared, hours.cost, hours.usage
  from unsplit_hours as hours
  join lake_owned as owned
    on owned.series_id = hours.series_id
    and owned.from_time <= hours.bucket_start
    and owned.to_time > hours.bucket_start
  union all
  select split.series_id, split.bucket_start, parties.party, true, split.cost, split.usage
  from split
  join lake_parties as parties
    on parties.rule = split.rule
    and parties.owner = split.owner
    and parties.team is not distinct from split.team
    and parties.product is not distinct from split.product
    and parties.environment is not distinct from split.environment
)
select
  hours.bucket_start,
  hours.bucket_start + interval 1 hour as bucket_end,
  names.series_id,
  --! include: names_of_place
  parties.owner,
  parties.team,
  parties.product,
  parties.environment,
  parties.rule,
  hours.is_shared,
  hours.cost,
  hours.usage
from (
  select ordered.place, allocated.bucket_start, allocated.party, allocated.is_shared, allocated.cost, allocated.usage
  from allocated
  join (select series_id, place from lake_series where account = $account) as ordered using (series_id)
  order by ordered.place, allocated.bucket_start, allocated.party
) as hours
join lake_series as names using (place)
join lake_parties as parties using (party)
