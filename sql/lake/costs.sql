--! about: Cost and usage by hour.
--! grain: account, workspace, resource_type, resource_name, resource_uuid, billing_dimension, bucket_start
--! partition: account, month
--! cost: cost
--! joins: in order
--! follows: hours
--! figures: hours
select
  hours.bucket_start,
  hours.bucket_start + interval 1 hour as bucket_end,
  --! include: names_of_place
  hours.cost,
  hours.usage,
  names.series_id
from (
  select ordered.place, hourly_costs.bucket_start, hourly_costs.cost, hourly_costs.usage
  from ledger.hourly_costs as hourly_costs
  join (select series_id, place from lake_series where account = $account) as ordered using (series_id)
  where hourly_costs.bucket_start >= cast($start as timestamp) and hourly_costs.bucket_start < cast($end as timestamp)
  order by ordered.place, hourly_costs.bucket_start
) as hours
join lake_series as names using (place)
