--! about: The hourly costs of some workspaces, resource types and billing dimensions ($scopes, JSON), each from an instant to
--! about: another, with the place of each in $scopes.
--! grain: place
with
--! include: series_by_access
asked as (
  select scope.place as place, scope.account as account, scope.workspace as workspace,
    scope.resource_type as resource_type, scope.billing_dimension as billing_dimension,
    cast(scope.starts_at as timestamp) as starts_at, cast(scope.ends_at as timestamp) as ends_at
  from (
    select unnest(
      from_json(
        $scopes,
        '[{"place": "INTEGER", "account": "VARCHAR", "workspace": "VARCHAR", "resource_type": "VARCHAR",
          "billing_dimension": "VARCHAR", "starts_at": "VARCHAR", "ends_at": "VARCHAR"}]'
      )
    ) as scope
  )
),
members as (
  select asked.place, asked.starts_at, asked.ends_at, series.series_id
  --! include: series_of_asked
),
hours as (
  select members.place, hourly_costs.bucket_start, sum(hourly_costs.cost) as cost
  from hourly_costs
  join members
    on hourly_costs.series_id = members.series_id
    and hourly_costs.bucket_start >= members.starts_at
    and hourly_costs.bucket_start < members.ends_at
  -- Bounds of all, so that DuckDB reads no other hours.
  where hourly_costs.bucket_start >= (select min(starts_at) from asked)
    and hourly_costs.bucket_start < (select max(ends_at) from asked)
  group by members.place, hourly_costs.bucket_start
)
select
  place,
  to_json(list(epoch_ms(bucket_start) // 3600000 order by bucket_start)) as hours,
  to_json(list(cast(cost as double) order by bucket_start)) as costs
from hours
group by place
order by place
