--! about: The workspaces, resource types and billing dimensions whose two newest hours cost much more than the hours of the
--! about: day before yesterday: at least $least USD, and $times times the largest of those. $ended: the end of the newest
--! about: hour of each account, as JSON.
--! grain: account, workspace, resource_type, billing_dimension
with
--! include: series_by_access
ended as (
  select account.account as account, cast(account.ended_through as timestamp) as ended_through
  from (select unnest(from_json($ended, '[{"account": "VARCHAR", "ended_through": "VARCHAR"}]')) as account)
),
hours as (
  select
    series.account, series.workspace, series.resource_type, series.billing_dimension, ended.ended_through,
    hourly_costs.bucket_start, sum(hourly_costs.cost) as cost
  from hourly_costs
  join series_by_access as series using (series_id)
  join ended on ended.account = series.account
  where hourly_costs.bucket_start >= (select min(ended_through) - interval 48 hour from ended)
    and hourly_costs.bucket_start >= ended.ended_through - interval 48 hour
    and (
      hourly_costs.bucket_start >= ended.ended_through - interval 2 hour
      or hourly_costs.bucket_start < ended.ended_through - interval 24 hour
    )
    and hourly_costs.bucket_start < ended.ended_through
  group by all
),
scopes as (
  select
    account, workspace, resource_type, billing_dimension,
    coalesce(sum(cost) filter (bucket_start >= ended_through - interval 2 hour), 0) as newest,
    coalesce(max(cost) filter (bucket_start < ended_through - interval 24 hour), 0) as largest
  from hours
  group by account, workspace, resource_type, billing_dimension
)
select account, workspace, resource_type, billing_dimension
from scopes
where newest >= cast($least as double) and cast(newest as double) >= cast($times as double) * cast(largest as double)
order by account, workspace nulls first, resource_type nulls first, billing_dimension nulls first
