--! about: What an anomaly's costs came to on its first day, in USD: those of its workspace, resource type and billing dimension, as
--! about: the platform reports them now. One row: the anomaly, by its key.
select anomalies.anomaly_key as subject, cast(coalesce(sum(costs.cost), 0) as decimal(38, 12)) as value
from anomalies
left join costs
  on costs.account = anomalies.account
  and costs.workspace is not distinct from anomalies.workspace
  and costs.resource_type is not distinct from anomalies.resource_type
  and costs.billing_dimension is not distinct from anomalies.billing_dimension
  and costs.bucket_start >= anomalies.first_day
  and costs.bucket_start < anomalies.first_day + interval 1 day
group by subject;
