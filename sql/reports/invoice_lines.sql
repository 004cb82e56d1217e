--! about: Which lines make up what the month bills, and do its own costs match the platform's monthly total?
--! for: finance
--! grain: account, month, charge_class, incurred_month, billing_dimension, unit
--! params: month month = last-complete
--! top: cost
--! important: billing_dimension, cost, charge_class, platform_cost, difference, proven, usage, unit, account, month
with added_up as (
  select series_id, sum(usage) as usage, sum(cost) as cost
  from hourly_costs_billed
  -- An hour is billed in its own month. A filter on billing_month would have to compute it for every hour.
  where bucket_start >= cast($month as timestamp)
    and bucket_start < cast($month as timestamp) + interval 1 month
  group by series_id
),
billed as (
  select
    series.account,
    cast($month as date) as month,
    null as charge_class,
    cast($month as date) as incurred_month,
    series.billing_dimension,
    series.unit,
    cast(sum(added_up.usage) as decimal(38, 6)) as usage,
    cast(sum(added_up.cost) as decimal(38, 12)) as cost
  from added_up
  join series using (series_id)
  group by series.account, series.billing_dimension, series.unit
  union all
  select
    account,
    billing_month,
    'Correction',
    usage_month,
    billing_dimension,
    unit,
    cast(sum(usage) as decimal(38, 6)),
    cast(sum(cost) as decimal(38, 12))
  from corrections
  where billing_month = cast($month as date)
  group by account, billing_month, usage_month, billing_dimension, unit
),
-- The platform's latest totals; for a closed month, those before its close. Later changes are in corrections.
readings as (
  select
    reconciliation.account,
    reconciliation.billing_dimension,
    reconciliation.theirs as platform_cost,
    reconciliation.tolerance,
    rank() over (partition by reconciliation.account order by reconciliation.run_number desc, reconciliation.attempt desc) as newest
  from reconciliation
  left join closes
    on closes.account = reconciliation.account and closes.billing_month = cast($month as date) and closes.is_closed
  where reconciliation.window_start = cast($month as date)
    and reconciliation.window_end = cast($month as date) + interval 1 month
    and reconciliation.check_code = 'month_dimension_matches_platform'
    and reconciliation.measure = 'cost'
    and (closes.closed_at is null or reconciliation.proven_at <= closes.closed_at)
),
platform_totals as (
  select account, billing_dimension, platform_cost, tolerance
  from readings
  where newest = 1
),
own_lines as (
  select
    coalesce(billed.account, platform_totals.account) as account,
    coalesce(billed.billing_dimension, platform_totals.billing_dimension) as billing_dimension,
    billed.unit,
    -- A platform total that a complete month does not have is a line with 0 on our side.
    coalesce(billed.usage, 0) as usage,
    coalesce(billed.cost, 0) as cost,
    platform_totals.platform_cost,
    platform_totals.tolerance
  from (from billed where charge_class is null) as billed
  full join platform_totals
    on platform_totals.account = billed.account
    and platform_totals.billing_dimension is not distinct from billed.billing_dimension
  where billed.account is not null or platform_totals.platform_cost <> 0
),
lines as (
  select
    account, cast($month as date) as month, null as charge_class, cast($month as date) as incurred_month,
    billing_dimension, unit, usage, cost, platform_cost, tolerance
  from own_lines
  union all
  select
    account, month, charge_class, incurred_month, billing_dimension, unit, usage, cost, null, null
  from billed
  where charge_class is not null
  union all
  -- What the platform's invoice bills beyond the month's own lines and corrections, if it was entered at the close.
  select
    account, billing_month, 'Invoice difference', billing_month, null, null, null, invoice_difference, null, null
  from closes
  where is_closed and invoiced is not null and billing_month = cast($month as date)
),
-- A quotient of decimals would be a DOUBLE. With whole numbers (10^-24 USD by 10^-6 units) it is exact to 18 decimals.
whole_numbers as (
  select
    *,
    cast(cost * 1000000000000 as hugeint) * 1000000000000 * sign(usage) as cost_number,
    cast(abs(usage) * 1000000 as hugeint) as usage_number
  from lines
)
select
  account,
  month,
  charge_class,
  incurred_month,
  billing_dimension,
  unit,
  cast(usage as decimal(38, 6)) as usage,
  -- USD per unit, rounded half away from zero. Multiplied by the usage, it gives the cost to the cent up to 10^15 units.
  case
    when usage_number > 0 then cast(
      (cost_number + sign(cost_number) * (usage_number // 2)) // usage_number as decimal(38, 0)
    ) * 0.000000000000000001
  end as effective_rate,
  cast(cost as decimal(38, 12)) as cost,
  platform_cost,
  cast(cost - platform_cost as decimal(38, 12)) as difference,
  abs(cast(cost - platform_cost as double)) <= tolerance as proven
from whole_numbers
