--! about: Who owned the resource that drives each anomaly on its first day.
select distinct anomalies.anomaly_key, ownership.owner, ownership.is_split
from anomalies
join visible_series as series
  on series.account = anomalies.account
  and series.workspace is not distinct from anomalies.workspace
  and series.resource_type is not distinct from anomalies.resource_type
  and series.billing_dimension is not distinct from anomalies.billing_dimension
  and series.resource_name = anomalies.driver
join visible_ownership as ownership
  on ownership.series_id = series.series_id
  and ownership.from_time < cast(anomalies.first_day as timestamp) + interval 1 day
  and ownership.to_time > cast(anomalies.first_day as timestamp)
where anomalies.is_notified and anomalies.state <> 'restated'
order by anomalies.anomaly_key, ownership.owner;
