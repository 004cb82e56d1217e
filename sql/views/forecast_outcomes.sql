--! about: Forecasts of periods that have ended, each with the actual cost of its period.
--! grain: scope_kind, budget, account, workspace, resource_type, scope, period_kind, period, complete_through
-- Costs are summed once, by series and by the time between two period boundaries; single hours are read only for
-- budgets that name labels or owners.
create or replace view forecast_outcomes as
with made as (
  select
    forecasts.*,
    from_json(
      forecasts.scope,
      --! include: scope_type
    ) as asked
  from forecasts
  where forecasts.forecast is not null and json_extract_string(forecasts.scope, '$.unit') is null
),
-- Accounts whose books must be complete. One that was already behind when the forecast was made does not count.
concerned as (
  select distinct
    made.scope_kind, made.account, made.asked.account as accounts, made.complete_through, made.period_end
  from made
),
complete as (
  select
    concerned.scope_kind, concerned.account, concerned.accounts, concerned.complete_through, concerned.period_end
  from concerned
  join accounts
    on accounts.complete_through >= concerned.complete_through
    and case
      when concerned.scope_kind = 'workspace' then accounts.account = concerned.account
      else concerned.accounts is null or list_contains(concerned.accounts, accounts.account)
    end
  group by all
  -- Nothing more comes of an account that has ended.
  having coalesce(min(accounts.complete_through) filter (where accounts.ended_at is null), min(accounts.complete_through))
    >= concerned.period_end
),
ended as materialized (
  select made.*
  from made
  semi join complete
    on complete.scope_kind = made.scope_kind
    and complete.account is not distinct from made.account
    and complete.accounts is not distinct from made.asked.account
    and complete.complete_through = made.complete_through
    and complete.period_end = made.period_end
),
boundaries as (
  select period_start as boundary from ended
  union
  select period_end from ended
),
parts as materialized (
  select hourly_costs.series_id, boundaries.boundary, sum(hourly_costs.cost) as cost
  from hourly_costs
  asof join boundaries on hourly_costs.bucket_start >= boundaries.boundary
  where hourly_costs.bucket_start >= (select min(period_start) from ended)
    and hourly_costs.bucket_start < (select max(period_end) from ended)
  group by hourly_costs.series_id, boundaries.boundary
),
workspaces as (
  select distinct account, workspace, resource_type, period_start, period_end
  from ended
  where scope_kind = 'workspace'
),
scopes as (
  select distinct scope as id, asked as scope
  from ended
  where scope_kind = 'budget'
),
--! include: series_in_scopes
scope_kinds as not materialized (select true as has_label, true as has_owner),
--! include: hours_in_scopes
periods as (
  select distinct scope, period_start, period_end
  from ended
  where scope_kind = 'budget'
),
costs as (
  select
    workspaces.account, workspaces.workspace, workspaces.resource_type, null as scope, workspaces.period_start,
    sum(parts.cost) as cost,
    'workspace' as scope_kind, workspaces.period_end
  from workspaces
  join series
    on series.account = workspaces.account
    and series.workspace is not distinct from workspaces.workspace
    and series.resource_type is not distinct from workspaces.resource_type
  join parts
    on parts.series_id = series.series_id
    and parts.boundary >= workspaces.period_start
    and parts.boundary < workspaces.period_end
  group by all
  union all
  select null, null, null, periods.scope, periods.period_start, sum(parts.cost), 'budget', periods.period_end
  from periods
  join series_in_scopes on series_in_scopes.id = periods.scope
  join parts
    on parts.series_id = series_in_scopes.series_id
    and parts.boundary >= periods.period_start
    and parts.boundary < periods.period_end
  where series_in_scopes.label is null and series_in_scopes.owner is null
  group by all
  union all
  select
    null, null, null, periods.scope, periods.period_start,
    sum(
      --! include: part_of_cost
    ),
    'budget', periods.period_end
  from periods
  join hours_in_scopes as members on members.id = periods.scope
  join hourly_costs
    on hourly_costs.series_id = members.series_id
    and hourly_costs.bucket_start >= greatest(members.from_time, periods.period_start)
    and hourly_costs.bucket_start < least(members.to_time, periods.period_end)
  group by all
),
outcomes as (
  select
    ended.*,
    -- A complete period without rows cost nothing.
    cast(coalesce(costs.cost, 0) as decimal(38, 12)) as actual
  from ended
  left join costs
    on costs.scope_kind = ended.scope_kind
    and costs.scope is not distinct from ended.scope
    and (ended.scope_kind = 'budget' or costs.account = ended.account)
    and costs.workspace is not distinct from ended.workspace
    and costs.resource_type is not distinct from ended.resource_type
    and costs.period_start = ended.period_start
    and costs.period_end = ended.period_end
)
select
  scope_kind,
  budget,
  account, --: Account of the forecast; null for a budget of several or all accounts
  workspace, --: Workspace of the forecast; null for a budget, or for costs without a workspace
  resource_type, --: Resource type of the forecast; null for a budget, or for costs without a resource type
  period_kind,
  period,
  period_start,
  period_end,
  complete_through, --: The books were complete through this instant when the forecast was made, UTC
  made_at,
  cast(ceil(date_diff('hour', complete_through, period_end) / 24.0) as integer) as lead_days, --: Days that were left in the period when the forecast was made, rounded up
  spent, --: Cost of the period's complete hours when the forecast was made, USD
  forecast, --: Expected cost of the whole period, USD
  low, --: Lower end of the interval, USD
  high, --: Upper end of the interval, USD
  level, --: Confidence level of the interval: out of 100 periods, how many should end inside it
  actual, --: Actual cost of the period in the books of today, USD
  cast(forecast - actual as decimal(38, 12)) as error, --: Forecast minus actual cost, USD; negative if the forecast was too low
  case
    when actual > 0
      then cast(round(cast(forecast - actual as double) * 100 / cast(actual as double), 2) as decimal(18, 2))
  end as error_percent, --: Error as a percentage of the actual cost; null if that is zero
  actual >= low and actual <= high as is_within_interval, --: Whether the actual cost is within the interval
  model, --: Model that made the forecast
  transform,
  observations,
  scope,
  run_number --: Run that made the forecast
from outcomes;
