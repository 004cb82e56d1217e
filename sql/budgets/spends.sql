--! about: Spend of each budget in each of its windows. Costs are summed once by series and by the range between two
--! about: boundaries. Each window has a row for each of the $drivers most expensive resources, with the window's total in
--! about: every row. With $of_usage, usage instead of costs: scopes then name its unit.
--! grain: spend_window, place
with
--! include: scopes
--! include: series_in_scopes
--! include: spend_windows
parts as (
  select hourly_costs.series_id, boundaries.boundary,
    case
      when cast($of_usage as boolean) then cast(sum(hourly_costs.usage) as decimal(38, 12))
      else cast(sum(hourly_costs.cost) as decimal(38, 12))
    end as cost
  from hourly_costs
  asof join boundaries on hourly_costs.bucket_start >= boundaries.boundary
  where hourly_costs.bucket_start >= cast($from as timestamp) and hourly_costs.bucket_start < cast($to as timestamp)
  group by hourly_costs.series_id, boundaries.boundary
),
costs as (
  select
    spend_windows.spend_window,
    series.account,
    series.workspace,
    series.resource_type,
    series.resource_name,
    sum(parts.cost) as cost
  from spend_windows
  join series_in_scopes as members using (id)
  join parts
    on parts.series_id = members.series_id
    and parts.boundary >= spend_windows.window_start
    and parts.boundary < spend_windows.window_end
  join series on series.series_id = members.series_id
  group by spend_windows.spend_window, series.account, series.workspace, series.resource_type, series.resource_name
),
--! include: largest_resources
