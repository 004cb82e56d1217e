--! about: The names of budgets with a stored forecast.
select distinct budget from forecasts where budget is not null order by budget
