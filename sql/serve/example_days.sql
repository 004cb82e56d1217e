--! about: Cost by day in the last 30 days: an example on the page of SQL.
select usage_date, sum(cost) as cost
from costs_daily
where usage_date >= (select max(complete_through) from accounts) - interval 30 days
group by all
order by usage_date;
