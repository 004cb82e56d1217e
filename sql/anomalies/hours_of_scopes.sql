--! about: The hourly costs of some workspaces, resource types and billing dimensions ($scopes, JSON) from $from to $to, with
--! about: the place of each in $scopes.
--! grain: place
with
--! include: series_by_access
asked as (
  select scope.place as place, scope.account as account, scope.workspace as workspace,
    scope.resource_type as resource_type, scope.billing_dimension as billing_dimension
  from (
    select unnest(
      from_json(
        $scopes,
        '[{"place": "INTEGER", "account": "VARCHAR", "workspace": "VARCHAR", "resource_type": "VARCHAR",
          "billing_dimension": "VARCHAR"}]'
      )
    ) as scope
  )
),
members as (
  select asked.place, series.series_id
  --! include: series_of_asked
),
hours as (
  select members.place, hourly_costs.bucket_start, sum(hourly_costs.cost) as cost
  from hourly_costs
  join members using (series_id)
  where hourly_costs.bucket_start >= cast($from as timestamp) and hourly_costs.bucket_start < cast($to as timestamp)
  group by members.place, hourly_costs.bucket_start
)
select
  place,
  to_json(list(epoch_ms(bucket_start) // 3600000 order by bucket_start)) as hours,
  to_json(list(cast(cost as double) order by bucket_start)) as costs
from hours
group by place
order by place
