--! about: What did a unit of usage cost each day, and when did its price change?
--! for: teams
--! grain: account, billing_dimension, resource_type, unit, workspace, period_start
--! params: from date = -30d, to date = complete-through, account text = *, workspace text = *
--! params: by_month boolean = false, tolerance decimal = 0.005, floor decimal = 0.01
--! top: period_start, cost
--! important: billing_dimension, rate, workspace, period_start, usage, cost, is_price_change, rate_before_change,
--! important: account
-- A price changes when the rate of three days is followed by one that differs by more than the tolerance. Days that cost
-- less than the floor are ignored. Workspaces with different rates have separate rows.
with added_up as (
  -- Starts eight days earlier, so that a change on the first day can be found.
  select
    series_id,
    cast(bucket_start as date) as usage_date,
    sum(usage) as usage,
    sum(cost) as cost,
    sum(cost) filter (where usage <> 0) as metered_cost
  from hourly_costs
  where bucket_start >= cast($from as timestamp) - interval 8 day
    and bucket_start < cast($to as timestamp)
  group by series_id, cast(bucket_start as date)
),
of_workspaces as (
  select
    series.account,
    series.billing_dimension,
    series.resource_type,
    series.unit,
    series.workspace,
    added_up.usage_date,
    sum(added_up.usage) as usage,
    sum(added_up.cost) as cost,
    sum(added_up.metered_cost) as metered_cost,
    sum(added_up.metered_cost) >= cast($floor as decimal(38, 12)) and sum(added_up.usage) > 0 as is_meaningful
  from added_up
  join series using (series_id)
  where ($account is null or series.account = $account)
    and ($workspace is null or series.workspace = $workspace)
  group by
    series.account,
    series.billing_dimension,
    series.resource_type,
    series.unit,
    series.workspace,
    added_up.usage_date
),
spreads as (
  select
    account,
    billing_dimension,
    resource_type,
    unit,
    usage_date,
    max(cast(metered_cost as double) / cast(nullif(usage, 0) as double)) filter (where is_meaningful) as highest_rate,
    min(cast(metered_cost as double) / cast(nullif(usage, 0) as double)) filter (where is_meaningful) as lowest_rate
  from of_workspaces
  group by account, billing_dimension, resource_type, unit, usage_date
),
unlike as (
  -- On more than one day, because on the day of a change each workspace has its own mix of both prices.
  select account, billing_dimension, resource_type, unit
  from spreads
  where highest_rate > lowest_rate * (1 + cast($tolerance as double))
  group by account, billing_dimension, resource_type, unit
  having count(*) > 1
),
days as (
  select
    of_workspaces.account,
    of_workspaces.billing_dimension,
    of_workspaces.resource_type,
    of_workspaces.unit,
    unlike.account is not null as is_of_workspace,
    case when unlike.account is not null then of_workspaces.workspace end as workspace,
    of_workspaces.usage_date,
    sum(of_workspaces.usage) as usage,
    sum(of_workspaces.cost) as cost,
    sum(of_workspaces.metered_cost) as metered_cost
  from of_workspaces
  left join unlike
    on unlike.account = of_workspaces.account
    and unlike.billing_dimension is not distinct from of_workspaces.billing_dimension
    and unlike.resource_type is not distinct from of_workspaces.resource_type
    and unlike.unit is not distinct from of_workspaces.unit
  group by all
),
meaningful as (
  -- These rates are only compared, not shown, so they may be DOUBLE.
  select
    account,
    billing_dimension,
    resource_type,
    unit,
    workspace,
    usage_date,
    cast(metered_cost as double) / cast(usage as double) as rate
  from days
  where metered_cost >= cast($floor as decimal(38, 12)) and usage > 0
),
neighbours as (
  select
    account,
    billing_dimension,
    resource_type,
    unit,
    workspace,
    usage_date,
    rate,
    lag(rate, 1) over by_date as rate_before,
    lag(rate, 2) over by_date as rate_2_before,
    lag(rate, 3) over by_date as rate_3_before,
    lag(usage_date, 1) over by_date as date_before,
    lead(rate, 1) over by_date as rate_after,
    lead(rate, 2) over by_date as rate_2_after
  from meaningful
  window by_date as (partition by account, billing_dimension, resource_type, unit, workspace order by usage_date)
),
changes as (
  select account, billing_dimension, resource_type, unit, workspace, usage_date, date_before
  from neighbours
  where abs(rate_2_before - rate_before) <= rate_before * cast($tolerance as double)
    and abs(rate_3_before - rate_before) <= rate_before * cast($tolerance as double)
    and abs(rate - rate_before) > rate_before * cast($tolerance as double)
    -- A day between two prices is the day of the change; a day after which the old price returns is not.
    and (rate_after is null or abs(rate_after - rate_before) > rate_before * cast($tolerance as double))
    and (rate_2_after is null or abs(rate_2_after - rate_after) <= rate_after * cast($tolerance as double))
),
flagged as (
  select
    days.account,
    days.billing_dimension,
    days.resource_type,
    days.unit,
    days.is_of_workspace,
    days.workspace,
    days.usage_date,
    days.usage,
    days.cost,
    days.metered_cost,
    case when changes.usage_date is not null then days.usage_date end as changed_on,
    case when changes.usage_date is not null then before.usage end as usage_before,
    case when changes.usage_date is not null then before.metered_cost end as cost_before
  from days
  left join changes
    on changes.account = days.account
    and changes.billing_dimension is not distinct from days.billing_dimension
    and changes.resource_type is not distinct from days.resource_type
    and changes.unit is not distinct from days.unit
    and changes.workspace is not distinct from days.workspace
    and changes.usage_date = days.usage_date
  left join days as before
    on before.account = changes.account
    and before.billing_dimension is not distinct from changes.billing_dimension
    and before.resource_type is not distinct from changes.resource_type
    and before.unit is not distinct from changes.unit
    and before.workspace is not distinct from changes.workspace
    and before.usage_date = changes.date_before
),
periods as (
  select
    account,
    billing_dimension,
    resource_type,
    unit,
    is_of_workspace,
    workspace,
    case when $by_month then cast(date_trunc('month', usage_date) as date) else usage_date end as period_start,
    cast(sum(usage) as decimal(38, 6)) as usage,
    cast(sum(cost) as decimal(38, 12)) as cost,
    cast(coalesce(sum(metered_cost), 0) as decimal(38, 12)) as metered_cost,
    max(changed_on) as changed_on,
    arg_max(usage_before, changed_on) as usage_before,
    arg_max(cost_before, changed_on) as cost_before
  from flagged
  where usage_date >= cast($from as date)
  group by all
),
-- Rates as whole numbers of 10^-18 USD per unit, rounded, because a quotient of decimals would be a DOUBLE.
whole_numbers as (
  select
    account,
    billing_dimension,
    resource_type,
    unit,
    is_of_workspace,
    workspace,
    period_start,
    usage,
    cost,
    metered_cost,
    changed_on,
    cast(metered_cost * 1000000000000 as hugeint) * 1000000000000 as cost_number,
    cast(usage * 1000000 as hugeint) as usage_number,
    cast(cost_before * 1000000000000 as hugeint) * 1000000000000 as cost_number_before,
    cast(usage_before * 1000000 as hugeint) as usage_number_before
  from periods
)
select
  account,
  billing_dimension,
  resource_type,
  unit,
  case when is_of_workspace then 'workspace' else 'account' end as rate_of,
  workspace,
  period_start,
  usage,
  cost,
  cast(cost - metered_cost as decimal(38, 12)) as cost_without_usage,
  case
    when usage_number > 0 then cast(
      (cost_number + sign(cost_number) * (usage_number // 2)) // usage_number as decimal(38, 0)
    ) * 0.000000000000000001
  end as rate,
  case
    when usage_number_before > 0 then cast(
      (cost_number_before + sign(cost_number_before) * (usage_number_before // 2)) // usage_number_before
        as decimal(38, 0)
    ) * 0.000000000000000001
  end as rate_before_change,
  changed_on is not null as is_price_change,
  changed_on
from whole_numbers
