--! about: The owners that the month charges anything to, and what has no owner (null).
select named as owner, cast(sum(cost) as decimal(38, 12)) as cost
from statement_costs
where is_month
group by named
order by named nulls last;
