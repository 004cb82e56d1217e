--! about: The question behind a chart of days, as a person can run it.
select date_trunc('day', bucket_start) as day, sum(cost) as cost
from costs
where bucket_start >= $from
  and bucket_start < $to
group by all
order by day;
