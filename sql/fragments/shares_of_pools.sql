--! about: The end of a query: how each pool is split over owners, in whole numbers (trillionths of a dollar). From the CTEs
--! about: rules, pools (rule_number, account, usage_month, cost, size: the sum of absolute costs in whole numbers),
--! about: direct_series and direct_numbers (cost and usage by series, owner's time and month).
direct as (
  select
    direct_series.account,
    direct_numbers.usage_month,
    direct_series.owner,
    direct_series.billing_dimension,
    sum(direct_numbers.cost) as cost,
    sum(direct_numbers.usage) as usage
  from direct_numbers
  join direct_series using (series_id, from_time)
  group by direct_series.account, direct_numbers.usage_month, direct_series.owner, direct_series.billing_dimension
),
-- Owners as the rule distinguishes them: only the dimensions over which it splits; the others are null.
identified as (
  select
    rules.rule_number,
    owned.owner,
    '{' || list_aggregate(
      list_transform(
        rules.dimensions,
        lambda dimension : to_json(dimension) || ':' || case
          when list_contains(rules.split.over, dimension)
            then coalesce(to_json(json_extract_string(owned.owner, '/' || dimension)), 'null')
          else 'null'
        end
      ),
      'string_agg',
      ','
    ) || '}' as shared_owner,
    list_bool_or(
      list_transform(
        rules.split.over, lambda dimension : json_extract_string(owned.owner, '/' || dimension) is not null
      )
    ) as is_owner
  from (select distinct owner from direct) as owned
  cross join rules
  where rules.split is not null and rules.split.by not in ('weights', 'mounts')
),
weighed as (
  select
    pools.rule_number,
    pools.account,
    pools.usage_month,
    identified.shared_owner as owner,
    case rules.split.by
      when 'cost' then cast(sum(direct.cost) as decimal(38, 12))
      when 'usage' then cast(
        coalesce(sum(direct.usage) filter (direct.billing_dimension = rules.split.billing_dimension), 0)
        as decimal(38, 12)
      )
      else cast(1 as decimal(38, 12))
    end as weight
  from pools
  join rules using (rule_number)
  join direct on direct.account = pools.account and direct.usage_month = pools.usage_month
  join identified on identified.rule_number = pools.rule_number and identified.owner = direct.owner
  where identified.is_owner
  group by
    pools.rule_number, pools.account, pools.usage_month, identified.shared_owner, rules.split.by,
    rules.split.billing_dimension
  union all
  select
    pools.rule_number,
    pools.account,
    pools.usage_month,
    fixed.owner,
    cast(fixed.weight as decimal(38, 12))
  from pools
  join (
    select rule_number, unnest(split.owners, recursive := true)
    from rules
    where split.by in ('weights', 'mounts')
  ) as fixed using (rule_number)
),
-- An owner with a negative weight (its credits exceed its cost) weighs zero.
whole as (
  select
    weighed.rule_number,
    weighed.account,
    weighed.usage_month,
    weighed.owner,
    weighed.weight,
    pools.cost as pool_cost,
    pools.size,
    cast(greatest(weighed.weight, 0) * 1000000000000 as hugeint) as units,
    cast(
      sum(cast(greatest(weighed.weight, 0) * 1000000000000 as hugeint)) over of_pool as hugeint
    ) as all_units
  from weighed
  join pools using (rule_number, account, usage_month)
  window of_pool as (partition by weighed.rule_number, weighed.account, weighed.usage_month)
),
-- The product of cost and weight must fit 38 digits: longer weights lose their last digits.
short as (
  select
    *,
    units // cast(
      '1' || repeat('0', cast(greatest(0, len(cast(all_units as varchar)) + len(cast(size as varchar)) - 38) as bigint))
      as hugeint
    ) as short_units
  from whole
),
-- If all weights are zero, the cost is split evenly: nothing may vanish.
levelled as (
  select
    *,
    sum(short_units) over of_pool = 0 as is_level,
    case when sum(short_units) over of_pool = 0 then cast(1 as hugeint) else short_units end as parts
  from short
  window of_pool as (partition by rule_number, account, usage_month)
),
divided as (
  select
    *,
    cast(sum(parts) over of_pool as hugeint) as all_parts,
    cast(abs(pool_cost) * 1000000000000 as hugeint) as pool_units
  from levelled
  window of_pool as (partition by rule_number, account, usage_month)
),
floored as (
  select
    *,
    pool_units * parts // all_parts as quotient,
    pool_units * parts % all_parts as remainder
  from divided
),
ranked as (
  select
    *,
    row_number() over (
      partition by rule_number, account, usage_month order by remainder desc, owner
    ) as remainder_rank,
    pool_units - cast(sum(quotient) over (partition by rule_number, account, usage_month) as hugeint) as left_over
  from floored
),
apportioned as (
  select
    *,
    cast(sign(pool_cost) as hugeint) * (quotient + case when remainder_rank <= left_over then 1 else 0 end)
      as share_units
  from ranked
)
select
  apportioned.rule_number,
  rules.rule,
  apportioned.account,
  apportioned.usage_month,
  apportioned.owner,
  json_extract_string(apportioned.owner, '/team') as team,
  json_extract_string(apportioned.owner, '/product') as product,
  json_extract_string(apportioned.owner, '/environment') as environment,
  rules.split.by as split_by,
  apportioned.is_level and rules.split.by <> 'evenly' as is_evenly_instead,
  apportioned.weight,
  apportioned.pool_cost,
  apportioned.all_parts,
  -- Running totals: including this owner, and before it.
  cast(sum(apportioned.parts) over up_to as hugeint) as parts_through,
  cast(sum(apportioned.parts) over up_to as hugeint) - apportioned.parts as parts_before,
  apportioned.share_units,
  cast(sum(apportioned.share_units) over up_to as hugeint) as share_through,
  cast(sum(apportioned.share_units) over up_to as hugeint) - apportioned.share_units as share_before
from apportioned
join rules using (rule_number)
window up_to as (
  partition by apportioned.rule_number, apportioned.account, apportioned.usage_month order by apportioned.owner
  rows between unbounded preceding and current row
)
