--! about: What each resource costs a month of 730 hours at the pace of its last complete day, in USD: workspace, type and name, and
--! about: the value. Conditions and the grouping by subject follow.
select
  concat_ws('/', costs.workspace, costs.resource_type, costs.resource_name) as subject,
  -- Exact to a trillionth: a quotient of decimals would be a double.
  cast(
    cast((cast(sum(costs.cost) * 1000000000000 as hugeint) * 730 + 12) // 24 as decimal(38, 0)) * 0.000000000001
    as decimal(38, 12)
  ) as value
from costs
join accounts using (account)
where costs.bucket_start >= date_trunc('day', accounts.complete_through) - interval 1 day
  and costs.bucket_start < date_trunc('day', accounts.complete_through)
