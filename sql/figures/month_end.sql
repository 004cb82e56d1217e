--! about: What a month is expected to cost at its end, in USD: the last forecast of a monthly budget of everything, or else the
--! about: sum of the last forecasts of all workspaces. One row: the month.
with ends as (
  select period, scope_kind, complete_through, sum(forecast) as value
  from forecasts
  where period_kind = 'monthly' and forecast is not null
    and (scope_kind = 'workspace' or (scope_kind = 'budget' and scope = '{}'))
  group by period, scope_kind, complete_through
)
select period as subject, cast(max_by(value, (scope_kind = 'budget', complete_through)) as decimal(38, 12)) as value
from ends
group by period;
