--! about: The question behind a chart of months, as a person can run it.
select date_trunc('month', bucket_start) as month, sum(cost) as cost
from costs
group by all
order by month;
