--! about: The resources whose cost changed against the month before, the largest change first; of one owner with
--! about: $owner; at most $count of them.
with resources as (
  select
    series.account,
    series.workspace,
    series.resource_type,
    series.resource_name,
    series.resource_uuid,
    cast(coalesce(sum(costs.cost) filter (costs.is_month), 0) as decimal(38, 12)) as cost,
    cast(coalesce(sum(costs.cost) filter (not costs.is_month), 0) as decimal(38, 12)) as cost_month_before,
    case
      when not bool_or(not costs.is_month) then 'new'
      when not bool_or(costs.is_month) then 'gone'
    end as change_type
  from statement_costs as costs
  join series using (series_id)
  cross join statement_known as known
  where ($owner is null or costs.named = $owner) and known.has_month_before
  group by series.account, series.workspace, series.resource_type, series.resource_name, series.resource_uuid
)
select
  account,
  workspace,
  resource_type,
  resource_name,
  resource_uuid,
  cost,
  cost_month_before,
  cast(cost - cost_month_before as decimal(38, 12)) as change,
  cast((cost - cost_month_before) / nullif(abs(cost_month_before), 0) as decimal(38, 6)) as change_share,
  change_type
from resources
where cost <> cost_month_before
order by
  abs(cost - cost_month_before) desc, account, workspace nulls last, resource_type nulls last, resource_name nulls last,
  resource_uuid nulls last
limit cast($count as bigint);
