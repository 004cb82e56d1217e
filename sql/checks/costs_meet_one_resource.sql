--! about: An hour of a series meets one state of one resource at most: joining resources multiplies no cost and drops none.
--! severity: fail
with amounts as (
  select series_id, count(*) as amounts, sum(cost) as cost
  from ledger.amounts
  group by series_id
),
shown as (
  select series_id, count(*) as amounts, sum(cost) as cost
  from costs_with_resources
  group by series_id
)
select
  series_id,
  amounts.amounts,
  shown.amounts as shown_amounts,
  amounts.cost,
  shown.cost as shown_cost
from amounts
full join shown using (series_id)
where amounts.amounts is distinct from shown.amounts
  or amounts.cost is distinct from shown.cost
order by series_id
