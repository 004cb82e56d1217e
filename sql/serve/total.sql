--! about: What a window cost ($from to $to, half-open).
with
--! include: visible_costs
totals as (select sum(cost) as cost from visible_costs)
select cast(coalesce(cost, 0) as decimal(38, 12)) as cost
from totals;
