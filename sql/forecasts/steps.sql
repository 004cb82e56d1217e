--! about: The cost of each scope without labels and owners by step (an hour, or a day that starts $align hours after midnight):
--! about: the history for forecasts. $scopes is a JSON list. $with_workspaces adds every workspace and resource type with costs
--! about: from $active_from on, at most the $most most expensive of each account. Costs are summed once by series and step. With
--! about: $of_usage, usage instead of costs. first_cost is the cost of the first $first_hours of a step.
--! grain: scope, account, workspace, resource_type, step
with
--! include: scopes
--! include: series_in_scopes
--! include: cut_of_steps
-- Hours since 1970 cut into steps; the remainder is the hour within one.
steps as materialized (
  select
    hourly_costs.series_id,
    (epoch_ms(hourly_costs.bucket_start) // 3600000 - cut.align) // cut.step_hours as step,
    case
      when cast($of_usage as boolean) then cast(sum(hourly_costs.usage) as decimal(38, 12))
      else cast(sum(hourly_costs.cost) as decimal(38, 12))
    end as cost,
    case
      when cast($of_usage as boolean) then cast(
        sum(hourly_costs.usage) filter (
          (epoch_ms(hourly_costs.bucket_start) // 3600000 - cut.align) % cut.step_hours < cut.first_hours
        ) as decimal(38, 12)
      )
      else cast(
        sum(hourly_costs.cost) filter (
          (epoch_ms(hourly_costs.bucket_start) // 3600000 - cut.align) % cut.step_hours < cut.first_hours
        ) as decimal(38, 12)
      )
    end as first_cost
  from hourly_costs
  cross join cut
  where hourly_costs.bucket_start >= cast($from as timestamp) and hourly_costs.bucket_start < cast($to as timestamp)
  group by hourly_costs.series_id, step
),
of_workspaces as (
  select
    series.account, series.workspace, series.resource_type, steps.step,
    sum(steps.cost) as cost,
    sum(steps.first_cost) as first_cost
  from steps
  join series using (series_id)
  where $with_workspaces
  group by series.account, series.workspace, series.resource_type, steps.step
),
active as (
  select of_workspaces.account, of_workspaces.workspace, of_workspaces.resource_type
  from of_workspaces
  cross join cut
  where of_workspaces.step >= (epoch_ms(cast($active_from as timestamp)) // 3600000 - cut.align) // cut.step_hours
  group by of_workspaces.account, of_workspaces.workspace, of_workspaces.resource_type
  having sum(abs(of_workspaces.cost)) > 0
  qualify
    row_number() over (
      partition by of_workspaces.account
      order by sum(of_workspaces.cost) desc, of_workspaces.workspace nulls first, of_workspaces.resource_type nulls first
    ) <= cast($most as bigint)
)
select
  series_in_scopes.id as scope,
  null as account,
  null as workspace,
  null as resource_type,
  steps.step,
  cast(sum(steps.cost) as decimal(38, 12)) as cost,
  cast(coalesce(sum(steps.first_cost), 0) as decimal(38, 12)) as first_cost
from series_in_scopes
join steps using (series_id)
group by series_in_scopes.id, steps.step
union all
select
  null, of_workspaces.account, of_workspaces.workspace, of_workspaces.resource_type, of_workspaces.step,
  cast(of_workspaces.cost as decimal(38, 12)),
  cast(coalesce(of_workspaces.first_cost, 0) as decimal(38, 12))
from of_workspaces
join active
  on active.account = of_workspaces.account
  and active.workspace is not distinct from of_workspaces.workspace
  and active.resource_type is not distinct from of_workspaces.resource_type
order by scope, account, workspace, resource_type, step
