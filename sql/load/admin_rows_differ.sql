--! about: Hours fetched as admin whose totals by billing dimension differ from what a member token fetched.
with now_there as (
  select series.billing_dimension, hourly_costs.bucket_start, hourly_costs.cost, hourly_costs.usage
  from ledger.hourly_costs as hourly_costs
  join ledger.series as series using (series_id)
  where series.account = $account
    and hourly_costs.bucket_start >= cast($part_start as timestamp)
    and hourly_costs.bucket_start < cast($part_end as timestamp)
),
read_now as (
  select
    incoming_series.billing_dimension,
    cast($window_start as timestamp) + to_hours(loaded.bucket) as bucket_start,
    loaded.cost,
    loaded.usage
  from loaded
  join incoming_series using (series_id)
  where cast($window_start as timestamp) + to_hours(loaded.bucket) >= cast($part_start as timestamp)
    and cast($window_start as timestamp) + to_hours(loaded.bucket) < cast($part_end as timestamp)
),
both_sides as (
  select billing_dimension, bucket_start, cost, usage from now_there
  union all
  select billing_dimension, bucket_start, -cost, -usage from read_now
)
select billing_dimension, bucket_start
from both_sides
group by billing_dimension, bucket_start
having abs(sum(cost)) > tolerance_of(count(*), sum(abs(cost)), 1e-12, $cost_half_unit, 1, $agreed)
  or abs(sum(usage)) > tolerance_of(count(*), sum(abs(usage)), 1e-6, $usage_half_unit, 1, null)
limit 1;
