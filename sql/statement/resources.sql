--! about: The answer of statement.sql, or of owner_statement.sql with $owner, from the collected costs; the largest first.
select
  series.account,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  --! include: cost_and_month_before
from statement_costs as costs
join series using (series_id)
cross join statement_known as known
where $owner is null or costs.named = $owner
group by
  series.account, series.workspace, series.resource_type, series.resource_name, series.resource_uuid,
  known.has_month_before
having known.has_month_before or coalesce(bool_or(costs.is_month), false)
order by
  cost desc, account, workspace nulls last, resource_type nulls last, resource_name nulls last, resource_uuid nulls last
