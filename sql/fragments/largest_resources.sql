--! about: The end of a query: the $drivers most expensive resources of each window of the CTE costs (spend_window, account,
--! about: workspace, resource_type, resource_name, cost), with the window's total in every row.
ranked as (
  select
    *,
    sum(cost) over (partition by spend_window) as total,
    row_number() over (
      partition by spend_window
      order by cost desc, account, workspace nulls first, resource_type nulls first, resource_name nulls first
    ) as place
  from costs
)
select
  spend_window,
  place,
  cast(total as decimal(38, 12)) as total,
  account,
  workspace,
  resource_type,
  resource_name,
  cast(cost as decimal(38, 12)) as cost
from ranked
where place <= $drivers
order by spend_window, place
