--! about: Is the month complete and proven, and does it match what the platform bills? One row per account, for sign-off.
--! for: checking
--! grain: account, month
--! params: month month = last-complete
-- proven is about now. unproven_comparisons counts each comparison that ever failed, also if the hours matched after they
-- were fetched again.
with period as (
  select
    cast($month as date) as month,
    cast($month as timestamp) as month_start,
    cast($month as timestamp) + interval 1 month as month_end
),
proven_hours as (
  select
    coverage.account,
    cast(
      sum(
        date_diff(
          'hour',
          greatest(coverage.window_start, period.month_start),
          least(coverage.claimed_end, period.month_end)
        )
      ) as bigint
    ) as hours_proven
  from coverage
  join period on coverage.window_start < period.month_end and coverage.claimed_end > period.month_start
  group by coverage.account
),
billed as (
  select
    costs_billed.account,
    sum(costs_billed.cost) filter (costs_billed.charge_class is null) as cost,
    sum(costs_billed.cost) filter (costs_billed.charge_class is not null) as correction_cost
  from costs_billed
  join period on period.month = costs_billed.billing_month
  group by costs_billed.account
),
closed as (
  select closes.account, closes.closed_at, closes.invoiced, closes.invoice_difference
  from closes
  join period on period.month = closes.billing_month
  where closes.is_closed
),
check_code as (
  select
    reconciliation.account,
    count(*) as comparisons,
    count(*) filter (not reconciliation.proven) as unproven_comparisons
  from reconciliation
  join period on reconciliation.window_start < period.month_end and reconciliation.window_end > period.month_start
  group by reconciliation.account
),
-- The platform's latest total of the whole month; for a closed month, before its close.
readings as (
  select
    reconciliation.account,
    reconciliation.check_code,
    reconciliation.theirs,
    reconciliation.tolerance,
    reconciliation.proven,
    reconciliation.proven_at,
    rank() over (partition by reconciliation.account order by reconciliation.run_number desc, reconciliation.attempt desc) as newest
  from reconciliation
  join period on reconciliation.window_start = period.month_start and reconciliation.window_end = period.month_end
  left join closed on closed.account = reconciliation.account
  where reconciliation.check_code in (
      'month_matches_platform', 'month_dimension_matches_platform'
    )
    and (closed.closed_at is null or reconciliation.proven_at <= closed.closed_at)
),
platform_totals as (
  select
    account,
    max(theirs) filter (check_code = 'month_matches_platform') as platform_cost,
    max(tolerance) filter (check_code = 'month_matches_platform') as tolerance,
    bool_and(proven) as dimensions_proven,
    max(proven_at) as compared_at
  from readings
  where newest = 1
  group by account
),
summed as (
  select
    accounts.account,
    period.month,
    date_diff('hour', period.month_start, period.month_end) as hours,
    coalesce(proven_hours.hours_proven, 0) as hours_proven,
    -- No rows mean no cost only if every hour is known.
    coalesce(billed.cost, case when proven_hours.hours_proven = hours then 0 end) as cost,
    platform_totals.platform_cost,
    platform_totals.tolerance,
    platform_totals.dimensions_proven,
    platform_totals.compared_at,
    coalesce(check_code.comparisons, 0) as comparisons,
    coalesce(check_code.unproven_comparisons, 0) as unproven_comparisons,
    billed.correction_cost,
    closed.closed_at,
    closed.invoiced,
    closed.invoice_difference
  from accounts
  cross join period
  left join proven_hours using (account)
  left join billed using (account)
  left join check_code using (account)
  left join platform_totals using (account)
  left join closed using (account)
  -- Nothing more comes of an account that has ended.
  where accounts.ended_at is null or accounts.complete_through > period.month_start
)
select
  account,
  month,
  hours,
  hours_proven,
  cast(cost as decimal(38, 12)) as cost,
  platform_cost,
  cast(cost - platform_cost as decimal(38, 12)) as difference,
  tolerance,
  -- Every hour is loaded and proven, and the month and its dimensions match the platform's latest totals.
  hours_proven = hours
    and coalesce(dimensions_proven and abs(cast(cost - platform_cost as double)) <= tolerance, false) as proven,
  compared_at,
  comparisons,
  unproven_comparisons,
  cast(correction_cost as decimal(38, 12)) as correction_cost,
  closed_at,
  invoiced,
  invoice_difference,
  -- As in closes; while the month is open, what it bills so far.
  cast(coalesce(invoiced, cost + coalesce(correction_cost, 0)) as decimal(38, 12)) as billed_cost
from summed
