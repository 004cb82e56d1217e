--! about: The names of the budgets that have a stored forecast.
select distinct budget from forecasts where budget is not null order by budget
