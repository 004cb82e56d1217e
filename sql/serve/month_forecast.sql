--! about: The newest stored forecast of a whole month ($month): of a monthly budget for everything, or else the sum of
--! about: the forecasts of all workspaces. A viewer of some workspaces ($is_all false) gets the sum of theirs. If none was made,
--! about: a row with the reason.
with candidates as (
  select complete_through, 'budget ' || budget as basis, 0 as place, spent, forecast, low, high, amount, null as reason
  from forecasts
  where $is_all and scope_kind = 'budget' and period_kind = 'monthly' and scope = '{}'
    and period_start = cast($month as timestamp) and forecast is not null
  union all
  select complete_through, 'sum of workspaces', 1, sum(spent), sum(forecast), sum(low), sum(high), null, null
  from forecasts
  where scope_kind = 'workspace' and period_kind = 'monthly'
    and (
      $is_all
      or (account, workspace, resource_type) in (select account, workspace, resource_type from visible_series)
    )
    and period_start = cast($month as timestamp) and forecast is not null
  group by complete_through
  union all
  select complete_through, null, 2, null, null, null, null, null, min(reason)
  from forecasts
  where period_kind = 'monthly'
    and (
      ($is_all and (scope_kind = 'workspace' or scope = '{}'))
      or (account, workspace, resource_type) in (select account, workspace, resource_type from visible_series)
    )
    and period_start = cast($month as timestamp) and forecast is null
  group by complete_through
)
select
  strftime(complete_through, '%Y-%m-%dT%H:%M:%SZ') as complete_through,
  basis,
  cast(spent as varchar) as spent,
  cast(forecast as varchar) as forecast,
  cast(low as varchar) as low,
  cast(high as varchar) as high,
  cast(amount as varchar) as amount,
  reason
from candidates
order by place, complete_through desc
limit 1;
