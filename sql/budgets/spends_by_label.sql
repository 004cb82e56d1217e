--! about: Like spends, for budgets whose scope names labels: those that the resource had in the hour of the cost.
--! grain: spend_window, place
with
--! include: scopes
--! include: series_in_scopes
--! include: spend_windows
labels as (
  select wanted.id, found.facts as labels
  from (select id, scope.label as entries from scopes) as wanted
  join (select distinct labels as facts from ledger.resources where labels is not null) as found
    on
    --! include: has_values
),
costs as (
  select
    spend_windows.spend_window,
    costs.account,
    costs.workspace,
    costs.resource_type,
    costs.resource_name,
    case
      when cast($of_usage as boolean) then cast(sum(costs.usage) as decimal(38, 12))
      else cast(sum(costs.cost) as decimal(38, 12))
    end as cost
  from spend_windows
  join series_in_scopes as members using (id)
  join labels using (id)
  join costs_with_resources as costs
    on costs.series_id = members.series_id
    and costs.labels = labels.labels
    and costs.bucket_start >= spend_windows.window_start
    and costs.bucket_start < spend_windows.window_end
  where costs.bucket_start >= cast($from as timestamp) and costs.bucket_start < cast($to as timestamp)
  group by spend_windows.spend_window, costs.account, costs.workspace, costs.resource_type, costs.resource_name
),
--! include: largest_resources
