--! about: What the report chargeback_summary answers for all accounts, from sums by day. The month before is compared up to
--! about: the hour $base_end, the month up to $compared_end: days that these cut are read by hour.
with owner_days as (
  select owners.owner, day_costs.day as bucket_start, day_costs.cost
  from memory.main.day_costs as day_costs
  join memory.main.owners as owners using (series_id, from_time)
  where not owners.is_split
    and day_costs.day >= cast($month as timestamp) - interval 1 month
    and day_costs.day < cast($month as timestamp) + interval 1 month
    and day_costs.day <> date_trunc('day', cast($base_end as timestamp))
    and day_costs.day <> date_trunc('day', cast($compared_end as timestamp))
),
cut_days as (
  select series_id, bucket_start, cost
  from hourly_costs
  where bucket_start >= date_trunc('day', cast($base_end as timestamp))
    and bucket_start < date_trunc('day', cast($base_end as timestamp)) + interval 1 day
  union all
  select series_id, bucket_start, cost
  from hourly_costs
  where bucket_start >= date_trunc('day', cast($compared_end as timestamp))
    and bucket_start < date_trunc('day', cast($compared_end as timestamp)) + interval 1 day
    and date_trunc('day', cast($compared_end as timestamp)) <> date_trunc('day', cast($base_end as timestamp))
),
owner_hours as (
  select owner, bucket_start, false as is_shared, cost
  from owner_days
  union all
  select owners.owner, cut_days.bucket_start, false, cut_days.cost
  from cut_days
  join memory.main.owners as owners
    on owners.series_id = cut_days.series_id
    and cut_days.bucket_start >= owners.from_time
    and cut_days.bucket_start < owners.to_time
  where not owners.is_split
    and cut_days.bucket_start >= cast($month as timestamp) - interval 1 month
    and cut_days.bucket_start < cast($month as timestamp) + interval 1 month
  union all
  select owner, bucket_start, true, cost
  from memory.main.shared_costs
  where bucket_start >= cast($month as timestamp) - interval 1 month
    and bucket_start < cast($month as timestamp) + interval 1 month
),
owner_corrections as (
  select owner, cost, usage_month = cast($month as date) as is_later
  from memory.main.owner_corrections
  where billing_month = cast($month as date) or usage_month = cast($month as date)
),
--! include: charged_owners
;
