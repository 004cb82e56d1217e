--! about: The resources that cost most this month: an example on the page of SQL.
select resource_name, workspace, sum(cost) as cost
from costs_monthly
where usage_month = (select max(usage_month) from costs_monthly)
group by all
order by cost desc
limit 20;
