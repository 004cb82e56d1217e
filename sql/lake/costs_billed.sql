--! about: Cost and usage by hour, in the month that bills them.
--! grain: account, charge_class, workspace, resource_type, resource_name, resource_uuid, billing_dimension, bucket_start
--! partition: account, month
--! cost: cost
--! joins: in order
--! follows: hours, closes
--! figures: billed
select
  cast($start as date) as billing_month,
  hours.charge_class,
  hours.bucket_start,
  hours.bucket_start + interval 1 hour as bucket_end,
  --! include: names_of_place
  hours.cost,
  hours.usage,
  names.series_id
from (
  select
    ordered.place,
    billed.charge_class,
    billed.bucket_start,
    cast(billed.cost as decimal(38, 12)) as cost,
    cast(billed.usage as decimal(38, 6)) as usage
  from (
    --! include: billed_hours_of_partition
  ) as billed
  join (select series_id, place from lake_series where account = $account) as ordered using (series_id)
  order by billed.charge_class nulls first, ordered.place, billed.bucket_start
) as hours
join lake_series as names using (place)
