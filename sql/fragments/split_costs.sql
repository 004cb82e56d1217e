--! about: CTEs shared, in_order, proportions and split: every hour of shared cost, divided over the owners of its pool. From
--! about: the CTEs owners (as the view allocation_owners), shares (as the view allocation_shares) and unsplit_hours
--! about: (series_id, bucket_start, cost, usage).
shared as (
  select
    owners.rule_number,
    owners.rule,
    owners.owner,
    series.account,
    hourly_costs.series_id,
    hourly_costs.bucket_start,
    cast(date_trunc('month', hourly_costs.bucket_start) as date) as usage_month,
    hourly_costs.cost,
    hourly_costs.usage,
    cast(cast(hourly_costs.cost as decimal(38, 12)) * 1000000000000 as hugeint) as cost_units,
    cast(cast(hourly_costs.usage as decimal(38, 6)) * 1000000 as hugeint) as usage_units
  from unsplit_hours as hourly_costs
  join owners on owners.series_id = hourly_costs.series_id
  join ledger.series as series on series.series_id = hourly_costs.series_id
  where owners.is_split
    and hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
),
-- An owner's part of an hour is the difference of two running totals: the share of all owners up to this one in all
-- hours up to this one. So the owners of an hour add up to the hour, and the hours of an owner add up to its share of
-- the month, both exactly: the totals of the last owner and of the last hour are known whole numbers. Totals in between
-- are proportions. Rounding them by a trillionth changes no sum, so doubles are exact enough, and many times faster
-- than 38-digit division.
in_order as (
  select
    *,
    cast(sum(cost_units) over up_to as hugeint) as through,
    cast(sum(cost_units) over up_to as hugeint) - cost_units as before,
    lead(series_id) over (partition by rule_number, account, usage_month order by bucket_start, series_id) is null
      as is_last
  from shared
  window up_to as (
    partition by rule_number, account, usage_month order by bucket_start, series_id
    rows between unbounded preceding and current row
  )
),
--! include: proportions
split as (
  select
    in_order.series_id,
    in_order.bucket_start,
    in_order.rule,
    coalesce(proportions.owner, in_order.owner) as owner,
    proportions.team,
    proportions.product,
    proportions.environment,
    case
      when proportions.owner is null then in_order.cost
      else cast(
        cast(
          --! include: part_of_shared_cost
          as decimal(38, 0)
        ) * 0.000000000001 as decimal(18, 12)
      )
    end as cost,
    case
      when proportions.owner is null then in_order.usage
      else cast(
        cast(
          case
            when proportions.is_last_owner then in_order.usage_units
            else cast(round(in_order.usage_units * proportions.ratio_through) as hugeint)
          end
          - case when proportions.is_after_all then in_order.usage_units else cast(round(in_order.usage_units * proportions.ratio_before) as hugeint) end
          as decimal(38, 0)
        ) * 0.000001 as decimal(18, 6)
      )
    end as usage
  from in_order
  left join proportions
    on proportions.rule_number = in_order.rule_number
    and proportions.account = in_order.account
    and proportions.usage_month = in_order.usage_month
),
