--! about: The first hour, counted from the window's start, whose rows and control differ; after compare_hours.
select min(bucket) as bucket
from compared_hours
where abs(our_cost - their_cost) > cost_tolerance or abs(our_usage - their_usage) > usage_tolerance;
