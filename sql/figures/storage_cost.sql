--! about: What the storage of a resource costs a month of 730 hours at the rate of its last complete day, in USD. One row:
--! about: workspace, type and name.
select
  concat_ws('/', costs.workspace, costs.resource_type, costs.resource_name) as subject,
  cast(
    cast((cast(sum(costs.cost) * 1000000000000 as hugeint) * 730 + 12) // 24 as decimal(38, 0)) * 0.000000000001
    as decimal(38, 12)
  ) as value
from costs
join accounts using (account)
where contains(costs.billing_dimension, 'storage')
  and costs.bucket_start >= date_trunc('day', accounts.complete_through) - interval 1 day
  and costs.bucket_start < date_trunc('day', accounts.complete_through)
group by subject;
