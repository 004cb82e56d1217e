--! about: Cost by month and workspace: an example on the page of SQL.
select usage_month, workspace, sum(cost) as cost
from costs_monthly
group by all
order by usage_month, cost desc;
