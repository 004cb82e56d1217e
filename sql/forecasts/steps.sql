--! about: The cost of each scope by step (an hour, or a day that starts $align hours after midnight): the history for
--! about: forecasts. $scopes is a JSON list. $with_workspaces adds every workspace and resource type with costs from
--! about: $active_from on, at most the $most most expensive of each account. Costs are summed once by series and step; scopes
--! about: with labels or owners are read by hour. first_cost is the cost of the first $first_hours of a step.
--! grain: scope, account, workspace, resource_type, step
with scopes as (
  select unnest(
    from_json(
      $scopes,
      '[{"scope": "INTEGER", "account": ["VARCHAR"], "workspace": ["VARCHAR"], "resource_type": ["VARCHAR"],
        "resource_name": ["VARCHAR"], "billing_dimension": ["VARCHAR"],
        "label": [{"pointer": "VARCHAR", "values": ["VARCHAR"]}],
        "owner": [{"pointer": "VARCHAR", "values": ["VARCHAR"]}]}]'
    )
  ) as asked
),
fitting_series as (
  select asked.scope as scope, asked.label as label, asked.owner as owner, series.series_id, series.account
  from scopes
  join series
    on (asked.account is null or list_contains(asked.account, series.account))
    and (asked.workspace is null or list_contains(asked.workspace, series.workspace))
    and (asked.resource_type is null or list_contains(asked.resource_type, series.resource_type))
    and (asked.billing_dimension is null or list_contains(asked.billing_dimension, series.billing_dimension))
    and (
      asked.resource_name is null
      or len(list_filter(asked.resource_name, lambda pattern: series.resource_name like pattern escape '\')) > 0
    )
),
cut as (
  select
    cast($align as bigint) as align,
    cast($step_hours as bigint) as step_hours,
    cast($first_hours as bigint) as first_hours
),
-- Hours since 1970 cut into steps; the remainder is the hour within one.
steps as materialized (
  select
    hourly_costs.series_id,
    (epoch_ms(hourly_costs.bucket_start) // 3600000 - cut.align) // cut.step_hours as step,
    sum(hourly_costs.cost) as cost,
    sum(hourly_costs.cost) filter (
      (epoch_ms(hourly_costs.bucket_start) // 3600000 - cut.align) % cut.step_hours < cut.first_hours
    ) as first_cost
  from hourly_costs
  cross join cut
  where hourly_costs.bucket_start >= cast($from as timestamp) and hourly_costs.bucket_start < cast($to as timestamp)
  group by hourly_costs.series_id, step
),
-- The hours of a series that belong to a scope of labels or owners: in full, or a share of parts / all_parts.
members as (
  select
    fitting_series.scope, fitting_series.series_id, resources.from_time, resources.to_time, 1 as parts, 1 as all_parts
  from ledger.resources_of_series as resources
  join fitting_series
    on $has_label
    and fitting_series.series_id = resources.series_id
    and len(
      list_filter(
        fitting_series.label,
        lambda entry: coalesce(list_contains(entry.values, json_extract_string(resources.labels, entry.pointer)), false)
      )
    ) = len(fitting_series.label)
  union all
  select fitting_series.scope, fitting_series.series_id, owners.from_time, owners.to_time, 1, 1
  from ledger.allocation_owners as owners
  join fitting_series
    on $has_owner
    and not owners.is_split
    and fitting_series.series_id = owners.series_id
    and len(
      list_filter(
        fitting_series.owner,
        lambda entry: coalesce(list_contains(entry.values, json_extract_string(owners.owner, entry.pointer)), false)
      )
    ) = len(fitting_series.owner)
  union all
  select
    fitting_series.scope,
    fitting_series.series_id,
    greatest(owners.from_time, cast(shares.usage_month as timestamp)),
    least(owners.to_time, shares.usage_month + interval 1 month),
    shares.parts_through - shares.parts_before,
    shares.all_parts
  from ledger.allocation_owners as owners
  join fitting_series on $has_owner and owners.is_split and fitting_series.series_id = owners.series_id
  join ledger.allocation_shares as shares
    on shares.rule_number = owners.rule_number
    and shares.account = fitting_series.account
    and len(
      list_filter(
        fitting_series.owner,
        lambda entry: coalesce(list_contains(entry.values, json_extract_string(shares.owner, entry.pointer)), false)
      )
    ) = len(fitting_series.owner)
),
hours_of_members as (
  select
    members.scope,
    (epoch_ms(hourly_costs.bucket_start) // 3600000 - cut.align) // cut.step_hours as step,
    (epoch_ms(hourly_costs.bucket_start) // 3600000 - cut.align) % cut.step_hours < cut.first_hours as is_first,
    case
      when members.parts = members.all_parts then hourly_costs.cost
      else cast(cast(hourly_costs.cost as double) * members.parts / members.all_parts as decimal(18, 12))
    end as cost
  from members
  cross join cut
  join hourly_costs
    on hourly_costs.series_id = members.series_id
    and hourly_costs.bucket_start >= members.from_time
    and hourly_costs.bucket_start < members.to_time
  where hourly_costs.bucket_start >= cast($from as timestamp) and hourly_costs.bucket_start < cast($to as timestamp)
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
  fitting_series.scope,
  null as account,
  null as workspace,
  null as resource_type,
  steps.step,
  cast(sum(steps.cost) as decimal(38, 12)) as cost,
  cast(coalesce(sum(steps.first_cost), 0) as decimal(38, 12)) as first_cost
from fitting_series
join steps using (series_id)
where fitting_series.label is null and fitting_series.owner is null
group by fitting_series.scope, steps.step
union all
select
  scope, null, null, null, step,
  cast(sum(cost) as decimal(38, 12)),
  cast(coalesce(sum(cost) filter (is_first), 0) as decimal(38, 12))
from hours_of_members
group by scope, step
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
