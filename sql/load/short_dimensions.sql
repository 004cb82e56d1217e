--! about: The billing dimensions in which rows and control differ, in cost or usage, in any hour; after compare_hours.
select distinct billing_dimension
from compared_hours
where billing_dimension is not null
  and (abs(our_cost - their_cost) > cost_tolerance or abs(our_usage - their_usage) > usage_tolerance)
order by billing_dimension;
