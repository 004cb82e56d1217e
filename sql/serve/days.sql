--! about: What each day of a window cost, in total ($from to $to, half-open).
select
  strftime(date_trunc('day', bucket_start), '%Y-%m-%d') as day,
  cast(sum(cost) as decimal(38, 12)) as cost
from visible_hours
where bucket_start >= cast($from as timestamp) and bucket_start < cast($to as timestamp)
group by all
order by day;
