--! about: The buckets of a query in which books and platform differ, in cost or usage.
select
  billing_dimension,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  epoch_ms(bucket_start) as bucket_start,
  our_cost,
  their_cost,
  our_cost - their_cost as cost_difference,
  our_usage,
  their_usage,
  our_usage - their_usage as usage_difference,
  cost_tolerance,
  usage_tolerance
from compared_past
where query = $query
  and not is_left_out
  and (abs(our_cost - their_cost) > cost_tolerance or abs(our_usage - their_usage) > usage_tolerance)
order by abs(our_cost - their_cost) desc, abs(our_usage - their_usage) desc, bucket_start, billing_dimension, workspace, resource_type, resource_name, resource_uuid;
