--! about: The newest stored forecast of each budget and period that ends after $from.
select
  budget,
  scope,
  period_kind,
  period,
  epoch_ms(complete_through) as complete_through,
  forecast,
  low,
  high,
  amount,
  model,
  cast(exceeds_on as varchar) as exceeds_on,
  reason
from forecasts
where scope_kind = 'budget' and period_end > cast($from as timestamp)
qualify row_number() over (partition by budget, scope, period_kind, period order by complete_through desc) = 1
