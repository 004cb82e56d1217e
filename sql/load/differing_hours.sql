--! about: Billing dimensions whose rows differ from the control, with the hours (counted from the window's start) and
--! about: the total difference. Runs after compare_hours.
select
  billing_dimension,
  count(distinct bucket) as hours,
  min(bucket) as first_bucket,
  max(bucket) as last_bucket,
  sum(our_cost - their_cost) as cost_difference
from compared_hours
where abs(our_cost - their_cost) > cost_tolerance or abs(our_usage - their_usage) > usage_tolerance
group by billing_dimension
order by billing_dimension;
