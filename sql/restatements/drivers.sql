--! about: The series that changed an account's month most.
with moved as (
  select
    account, strftime(bucket_start, '%Y-%m') as month,
    workspace, resource_type, resource_name, billing_dimension,
    sum(coalesce(new_cost, 0) - coalesce(old_cost, 0)) as difference
  from restatements
  where seen_at >= cast($seen_from as timestamp)
  group by all
)
select account, month, workspace, resource_type, resource_name, billing_dimension, difference
from moved
qualify row_number() over (
  partition by account, month
  order by abs(difference) desc, workspace, resource_type, resource_name, billing_dimension
) <= $max_drivers
order by account, month, abs(difference) desc, workspace, resource_type, resource_name, billing_dimension;
