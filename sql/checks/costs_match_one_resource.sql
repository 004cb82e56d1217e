--! about: Each hour of a series matches at most one state of one resource, so joining resources neither repeats nor
--! about: drops a cost.
--! severity: fail
--! hours: by month
with hourly_costs as (
  select series_id, count(*) as row_count, sum(cost) as cost
  from ledger.hourly_costs
  group by series_id
),
shown as (
  select series_id, count(*) as row_count, sum(cost) as cost
  from costs_with_resources
  group by series_id
)
select
  series_id,
  hourly_costs.row_count,
  shown.row_count as shown_row_count,
  hourly_costs.cost,
  shown.cost as shown_cost
from hourly_costs
full join shown using (series_id)
where hourly_costs.row_count is distinct from shown.row_count
  or hourly_costs.cost is distinct from shown.cost
order by series_id
