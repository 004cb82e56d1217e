--! about: The series that changed an account's month most, and what all others changed together.
with moved as (
  select
    account, strftime(bucket_start, '%Y-%m') as month,
    workspace, resource_type, resource_name, billing_dimension,
    sum(coalesce(new_cost, 0) - coalesce(old_cost, 0)) as difference
  from restatements
  where seen_at >= cast($seen_from as timestamp)
  group by all
),
placed as (
  select
    *,
    least($max_drivers + 1, row_number() over (
      partition by account, month
      order by abs(difference) desc, workspace, resource_type, resource_name, billing_dimension
    )) as place
  from moved
)
select
  account,
  month,
  if(place > $max_drivers, count(*), 0) as others,
  any_value(workspace) as workspace,
  any_value(resource_type) as resource_type,
  any_value(resource_name) as resource_name,
  any_value(billing_dimension) as billing_dimension,
  sum(difference) as difference
from placed
group by account, month, place
order by account, month, place;
