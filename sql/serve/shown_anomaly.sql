--! about: The days of an anomaly, as a person can query them: a line without a value is left out.
select cast(bucket_start as date) as day, sum(cost) as cost, sum(usage) as usage
from costs
where bucket_start >= $from
  and bucket_start < $to
  and account = $account
  and workspace = $workspace
  and resource_type = $resource_type
  and billing_dimension = $billing_dimension
group by all
order by day;
