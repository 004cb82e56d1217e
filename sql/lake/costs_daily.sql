--! about: Cost and usage by day.
--! grain: account, workspace, resource_type, resource_name, resource_uuid, billing_dimension, usage_date
--! partition: account, month
--! cost: cost
--! joins: in order
--! follows: hours
--! figures: hours
select
  sums.usage_date,
  --! include: names_of_place
  sums.cost,
  sums.usage,
  names.series_id
from (
  select
    ordered.place,
    cast(hourly_costs.bucket_start as date) as usage_date,
    sum(hourly_costs.cost) as cost,
    sum(hourly_costs.usage) as usage
  from ledger.hourly_costs as hourly_costs
  join (select series_id, place from lake_series where account = $account) as ordered using (series_id)
  where hourly_costs.bucket_start >= cast($start as timestamp) and hourly_costs.bucket_start < cast($end as timestamp)
  group by ordered.place, usage_date
  order by ordered.place, usage_date
) as sums
join lake_series as names using (place)
