--! about: What each day of a window cost, in total ($from to $to, half-open).
with
--! include: visible_costs
by_day as (
  select date_trunc('day', bucket_start) as day, sum(cost) as cost
  from visible_costs
  group by all
)
select strftime(day, '%Y-%m-%d') as day, cast(cost as decimal(38, 12)) as cost
from by_day
order by day;
