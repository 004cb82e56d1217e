--! about: Hours that were read as admin and whose totals by billing dimension a member's reading does not confirm.
with now_there as (
  select series.billing_dimension, amounts.bucket_start, amounts.cost, amounts.usage
  from ledger.amounts as amounts
  join ledger.series as series using (series_id)
  where series.account = $account
    and amounts.bucket_start >= cast($piece_start as timestamp)
    and amounts.bucket_start < cast($piece_end as timestamp)
),
read_now as (
  select
    incoming_series.billing_dimension,
    cast($window_start as timestamp) + to_hours(loaded.bucket) as bucket_start,
    loaded.cost,
    loaded.usage
  from loaded
  join incoming_series using (series_id)
  where cast($window_start as timestamp) + to_hours(loaded.bucket) >= cast($piece_start as timestamp)
    and cast($window_start as timestamp) + to_hours(loaded.bucket) < cast($piece_end as timestamp)
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
