--! about: The newest stored forecast of a whole month ($month): of a monthly budget for everything, or else the sum of
--! about: the forecasts of all workspaces, which has no amount.
with candidates as (
  select complete_through, 0 as place, forecast, low, high, amount
  from forecasts
  where scope_kind = 'budget' and period_kind = 'monthly' and scope = '{}'
    and period_start = cast($month as timestamp) and forecast is not null
  union all
  select complete_through, 1, sum(forecast), sum(low), sum(high), null
  from forecasts
  where scope_kind = 'workspace' and period_kind = 'monthly'
    and period_start = cast($month as timestamp) and forecast is not null
  group by complete_through
)
select
  cast(forecast as varchar) as forecast,
  cast(low as varchar) as low,
  cast(high as varchar) as high,
  cast(amount as varchar) as amount
from candidates
order by place, complete_through desc
limit 1;
