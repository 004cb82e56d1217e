--! about: Where the period of a budget is expected to end, in the budget's unit: the last forecast that "alert" stored for it.
--! about: One row: the budget and the name of its period.
select concat_ws('/', budget, period) as subject, cast(max_by(forecast, made_at) as decimal(38, 12)) as value
from forecasts
where scope_kind = 'budget' and forecast is not null
group by subject;
