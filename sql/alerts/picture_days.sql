--! about: What each day of a window cost, and the whole window in the row without a day ($from to $to, half-open).
with days as (
  select date_trunc('day', bucket_start) as day, sum(cost) as cost
  from hourly_costs
  where bucket_start >= cast($from as timestamp) and bucket_start < cast($to as timestamp)
  group by all
)
select strftime(day, '%Y-%m-%d') as day, cast(coalesce(sum(cost), 0) as decimal(38, 12)) as cost
from days
group by grouping sets ((day), ())
order by day nulls last;
