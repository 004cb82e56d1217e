--! about: The question of explore, as a person can run it: a line with a filter that is not set is left out, and
--! about: $group_by is a column.
select date_trunc($step, bucket_start) as bucket, $group_by, sum(cost) as cost, sum(usage) as usage
from costs
where bucket_start >= $from
  and bucket_start < $to
  and account = $account
  and workspace = $workspace
  and resource_type = $resource_type
  and resource_name = $resource_name
  and billing_dimension = $billing_dimension
group by all
order by bucket, cost desc;
