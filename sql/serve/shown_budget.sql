--! about: The stored forecasts of a budget, as a person can query them.
select period, complete_through, spent, forecast, low, high, amount, unit, exceeds_on
from forecasts
where scope_kind = 'budget'
  and budget = $budget
order by complete_through;
