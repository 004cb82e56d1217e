--! about: What each workspace cost in the month, and in the month before; of one owner with $owner.
select
  series.account,
  series.workspace,
  --! include: cost_and_month_before
from statement_costs as costs
join series using (series_id)
cross join statement_known as known
where $owner is null or costs.named = $owner
group by series.account, series.workspace, known.has_month_before
having known.has_month_before or coalesce(bool_or(costs.is_month), false)
order by cost desc, account, workspace nulls last;
