--! about: What each day of the month and of the month before cost by workspace; of one owner with $owner.
select
  strftime(costs.day, '%Y-%m-%d') as day,
  series.workspace,
  cast(sum(costs.cost) as decimal(38, 12)) as cost
from statement_costs as costs
join series using (series_id)
where $owner is null or costs.named = $owner
group by costs.day, series.workspace
order by day, workspace nulls last;
