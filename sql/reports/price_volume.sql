--! about: How much of the change between two months comes from price, volume, new resources and removed resources?
--! for: teams
--! grain: account, workspace, resource_type, resource_name, resource_uuid, billing_dimension
--! params: month month = last-complete, base month = month-before, account text = *, workspace text = *
--! top: change
--! important: resource_name, change, workspace, billing_dimension, cost, base_cost, price_effect, volume_effect,
--! important: account
-- For each dimension of each resource, price is (rate - base_rate) * usage and volume is base_rate * (usage - base_usage).
-- Where further units cost as much as before, the price is the same, and a free allowance was used up or left: all is
-- volume. So it is where all usage of the base month was free.
-- All parts add up to the change exactly: the column rounding has what rounding the two effects to twelve decimals leaves.
-- An unfinished month is compared with the same hours of the base month.
with months as (
  select
    cast($month as timestamp) as month_start,
    cast($base as timestamp) as base_start,
    date_diff('hour', month_start, month_start + interval 1 month) as month_hours,
    date_diff('hour', base_start, base_start + interval 1 month) as base_hours
),
--! include: hours_in_common
hours as (
  -- Only hours with usage have a price. Cost without usage (credits, fees) has its own column.
  select
    hourly_costs.series_id,
    case
      when hourly_costs.bucket_start < common.compared_start or hourly_costs.bucket_start >= common.compared_end then hourly_costs.bucket_start
    end as own_hour,
    sum(hourly_costs.usage) as usage,
    sum(hourly_costs.cost) filter (where hourly_costs.usage <> 0) as metered_cost,
    sum(hourly_costs.cost) as cost
  from hourly_costs
  cross join common
  where hourly_costs.bucket_start >= cast($month as timestamp)
    and hourly_costs.bucket_start < cast($month as timestamp) + interval 1 month
  group by all
),
base_hours as (
  -- Only hours with usage have a price. Cost without usage (credits, fees) has its own column.
  select
    hourly_costs.series_id,
    case
      when hourly_costs.bucket_start < common.base_start or hourly_costs.bucket_start >= common.base_end then hourly_costs.bucket_start
    end as own_hour,
    sum(hourly_costs.usage) as usage,
    sum(hourly_costs.cost) filter (where hourly_costs.usage <> 0) as metered_cost,
    sum(hourly_costs.cost) as cost
  from hourly_costs
  cross join common
  where hourly_costs.bucket_start >= cast($base as timestamp)
    and hourly_costs.bucket_start < cast($base as timestamp) + interval 1 month
  group by all
),
sides as (
  select
    hours.series_id,
    hours.usage,
    hours.metered_cost,
    hours.cost,
    null as base_usage,
    null as base_metered_cost,
    null as base_cost
  from hours
  join of_series using (series_id)
  where hours.own_hour is null
    or (hours.own_hour >= of_series.compared_start and hours.own_hour < of_series.compared_end)
  union all
  select
    base_hours.series_id,
    null,
    null,
    null,
    base_hours.usage,
    base_hours.metered_cost,
    base_hours.cost
  from base_hours
  join of_series using (series_id)
  where base_hours.own_hour is null
    or (base_hours.own_hour >= of_series.base_start and base_hours.own_hour < of_series.base_end)
),
lines as (
  select
    series_id,
    cast(coalesce(sum(usage), 0) as decimal(38, 6)) as usage,
    cast(coalesce(sum(metered_cost), 0) as decimal(38, 12)) as metered_cost,
    cast(coalesce(sum(cost), 0) as decimal(38, 12)) as cost,
    cast(coalesce(sum(base_usage), 0) as decimal(38, 6)) as base_usage,
    cast(coalesce(sum(base_metered_cost), 0) as decimal(38, 12)) as base_metered_cost,
    cast(coalesce(sum(base_cost), 0) as decimal(38, 12)) as base_cost
  from sides
  group by series_id
),
-- Both rates as whole numbers of 10^-18 USD per unit, rounded, because a quotient of decimals would be a DOUBLE.
whole_numbers as (
  select
    series_id,
    cast(metered_cost * 1000000000000 as hugeint) * 1000000000000 as cost_number,
    cast(usage * 1000000 as hugeint) as usage_number,
    cast(base_metered_cost * 1000000000000 as hugeint) * 1000000000000 as base_cost_number,
    cast(base_usage * 1000000 as hugeint) as base_usage_number
  from lines
),
rates as (
  select
    series_id,
    case
      when usage_number > 0 then cast(
        (cost_number + sign(cost_number) * (usage_number // 2)) // usage_number as decimal(38, 0)
      ) * 0.000000000000000001
    end as rate,
    case
      when base_usage_number > 0 then cast(
        (base_cost_number + sign(base_cost_number) * (base_usage_number // 2)) // base_usage_number as decimal(38, 0)
      ) * 0.000000000000000001
    end as base_rate
  from whole_numbers
),
-- What one more unit costs, over the hours with a cost: a free allowance does not change it. Null where all hours have
-- the same usage.
slopes as (
  select
    hourly_costs.series_id,
    regr_slope(cast(hourly_costs.cost as double), cast(hourly_costs.usage as double)) filter (
      hourly_costs.bucket_start >= of_series.compared_start and hourly_costs.bucket_start < of_series.compared_end
    ) as slope,
    regr_slope(cast(hourly_costs.cost as double), cast(hourly_costs.usage as double)) filter (
      hourly_costs.bucket_start >= of_series.base_start and hourly_costs.bucket_start < of_series.base_end
    ) as base_slope
  from hourly_costs
  join of_series using (series_id)
  join rates using (series_id)
  where hourly_costs.cost > 0
    and abs(cast(rates.rate - rates.base_rate as double)) > 0.005 * abs(cast(rates.base_rate as double))
    and hourly_costs.bucket_start >= cast(least($month, $base) as timestamp)
    and hourly_costs.bucket_start < cast(greatest($month, $base) as timestamp) + interval 1 month
  group by hourly_costs.series_id
),
priced as (
  select
    lines.series_id,
    lines.usage,
    lines.metered_cost,
    lines.cost,
    lines.base_usage,
    lines.base_metered_cost,
    lines.base_cost,
    rates.rate,
    rates.base_rate,
    -- A cost with almost no usage gives a meaningless rate that overflows when multiplied by the other month's usage. Such
    -- a change counts as cost without usage.
    greatest(
      abs(cast(rates.rate as double)), abs(cast(rates.base_rate as double))
    ) * greatest(cast(lines.usage as double), cast(lines.base_usage as double)) < 1e12 as is_priced,
    lines.base_metered_cost = 0 or coalesce(
      slopes.slope > 0 and slopes.slope < 1e12 and abs(slopes.slope - slopes.base_slope) <= 0.005 * slopes.slope, false
    ) as is_same_price
  from lines
  join rates using (series_id)
  left join slopes using (series_id)
),
effects as (
  select
    series_id,
    usage,
    cost,
    rate,
    base_usage,
    base_cost,
    base_rate,
    case
      when rate is not null and base_rate is not null and is_priced and not is_same_price
        then cast((rate - base_rate) * usage as decimal(38, 12))
      else 0
    end as price_effect,
    case
      when rate is not null and base_rate is not null and is_priced and is_same_price then metered_cost - base_metered_cost
      when rate is not null and base_rate is not null and is_priced
        then cast(base_rate * (usage - base_usage) as decimal(38, 12))
      else 0
    end as volume_effect,
    case when rate is not null and base_rate is null then metered_cost - base_metered_cost else 0 end as new_cost,
    case when rate is null and base_rate is not null then metered_cost - base_metered_cost else 0 end as gone_cost,
    (cost - metered_cost) - (base_cost - base_metered_cost) + case
      when (rate is null and base_rate is null) or (rate is not null and base_rate is not null and not is_priced)
        then metered_cost - base_metered_cost
      else 0
    end as without_usage
  from priced
)
select
  series.account,
  series.workspace,
  series.resource_type,
  series.resource_name,
  series.resource_uuid,
  series.billing_dimension,
  series.unit,
  effects.base_usage,
  effects.usage,
  effects.base_rate,
  effects.rate,
  effects.base_cost,
  effects.cost,
  cast(effects.cost - effects.base_cost as decimal(38, 12)) as change,
  cast(effects.price_effect as decimal(38, 12)) as price_effect,
  cast(effects.volume_effect as decimal(38, 12)) as volume_effect,
  cast(effects.new_cost as decimal(38, 12)) as new_cost,
  cast(effects.gone_cost as decimal(38, 12)) as gone_cost,
  cast(effects.without_usage as decimal(38, 12)) as without_usage,
  cast(
    effects.cost - effects.base_cost - effects.price_effect - effects.volume_effect - effects.new_cost
    - effects.gone_cost - effects.without_usage as decimal(38, 12)
  ) as rounding,
  compared.compared_start,
  compared.compared_end,
  compared.base_start,
  compared.base_end
from effects
join series using (series_id)
join compared using (account)
where $workspace is null or series.workspace = $workspace
