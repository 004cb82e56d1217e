--! about: Each budget and period that was evaluated: its amount, what was spent and what is expected, at the last evaluation.
--! grain: budget, scope, period_kind, period
--! version: 2
select
  budget,
  account,
  scope,
  period_kind,
  period,
  period_start,
  period_end,
  amount,
  spent,
  forecast,
  low,
  high,
  exceeds_on,
  complete_through,
  made_at,
  unit
from forecasts
where scope_kind = 'budget'
qualify row_number() over (
  partition by budget, scope, period_kind, period order by complete_through desc, made_at desc
) = 1
order by budget, scope, period_kind, period
