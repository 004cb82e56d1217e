--! about: Forecasts of costs of periods that have ended, each with the actual cost of its period. Costs are summed once, by
--! about: series and by the time between two period boundaries; single hours are read only for budgets that name labels
--! about: or owners.
--! grain: scope_kind, budget, account, workspace, resource_type, scope, period_kind, period, complete_through
create or replace view forecast_outcomes as
with made as (
  select
    forecasts.*,
    from_json(
      forecasts.scope,
      --! include: scope_type
    ) as asked
  from ledger.forecasts as forecasts
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
  having min(accounts.complete_through) >= concerned.period_end
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
  account,
  workspace,
  resource_type,
  period_kind,
  period,
  period_start,
  period_end,
  complete_through,
  made_at,
  cast(ceil(date_diff('hour', complete_through, period_end) / 24.0) as integer) as lead_days,
  spent,
  forecast,
  low,
  high,
  level,
  actual,
  cast(forecast - actual as decimal(38, 12)) as error,
  case
    when actual > 0
      then cast(round(cast(forecast - actual as double) * 100 / cast(actual as double), 2) as decimal(18, 2))
  end as error_percent,
  actual >= low and actual <= high as is_within_interval,
  model,
  transform,
  observations,
  scope,
  run_number
from outcomes;
comment on view forecast_outcomes is 'Forecasts of periods that have ended, each with the actual cost of its period';
comment on column forecast_outcomes.scope_kind is 'budget, or workspace: one resource type in one workspace of an account';
comment on column forecast_outcomes.budget is 'Name of the budget; null if the forecast is for no budget';
comment on column forecast_outcomes.account is 'Account of the forecast; null for a budget of several or all accounts';
comment on column forecast_outcomes.workspace is 'Workspace of the forecast; null for a budget, or for costs without a workspace';
comment on column forecast_outcomes.resource_type is 'Resource type of the forecast; null for a budget, or for costs without a resource type';
comment on column forecast_outcomes.period_kind is 'daily, weekly, monthly, quarterly or yearly';
comment on column forecast_outcomes.period is 'Name of the period, such as 2026-10';
comment on column forecast_outcomes.period_start is 'Start of the period, UTC';
comment on column forecast_outcomes.period_end is 'End of the period, UTC, exclusive';
comment on column forecast_outcomes.complete_through is 'The books were complete through this instant when the forecast was made, UTC';
comment on column forecast_outcomes.made_at is 'When the forecast was made, UTC';
comment on column forecast_outcomes.lead_days is 'Days that were left in the period when the forecast was made, rounded up';
comment on column forecast_outcomes.spent is 'Cost of the period''s complete hours when the forecast was made, USD';
comment on column forecast_outcomes.forecast is 'Expected cost of the whole period, USD';
comment on column forecast_outcomes.low is 'Lower end of the interval, USD';
comment on column forecast_outcomes.high is 'Upper end of the interval, USD';
comment on column forecast_outcomes.level is 'Confidence level of the interval: out of 100 periods, how many should end inside it';
comment on column forecast_outcomes.actual is 'Actual cost of the period in the books of today, USD';
comment on column forecast_outcomes.error is 'Forecast minus actual cost, USD; negative if the forecast was too low';
comment on column forecast_outcomes.error_percent is 'Error as a percentage of the actual cost; null if that is zero';
comment on column forecast_outcomes.is_within_interval is 'Whether the actual cost is within the interval';
comment on column forecast_outcomes.model is 'Model that made the forecast';
comment on column forecast_outcomes.transform is 'Transformation of the values: none, sqrt or log1p';
comment on column forecast_outcomes.observations is 'Number of values in the history';
comment on column forecast_outcomes.scope is 'Filter that selects the budget''s costs, as JSON; null if the forecast is for no budget';
comment on column forecast_outcomes.run_number is 'Run that made the forecast';
