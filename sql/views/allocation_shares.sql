--! about: How the shared cost of each account, month and rule is split over owners. Internal: public views build on it.
--! about: Costs are split per calendar month: it is long enough for every owner to have direct cost, and months are
--! about: what you charge and close. All arithmetic uses whole numbers (trillionths of a dollar), so that nothing is
--! about: lost by rounding: each owner gets the whole part of its share, and the rest goes one unit each to the largest
--! about: remainders.
--! grain: rule_number, account, usage_month, owner
create or replace view ledger.allocation_shares as
with
rules as materialized (select rule_number, rule, split, dimensions from ledger.allocation_rules),
owners as materialized (select * from ledger.allocation_owners),
pools as materialized (
  select
    owners.rule_number,
    series.account,
    cast(date_trunc('month', hourly_costs.bucket_start) as date) as usage_month,
    cast(sum(hourly_costs.cost) as decimal(38, 12)) as cost,
    cast(cast(sum(abs(hourly_costs.cost)) as decimal(38, 12)) * 1000000000000 as hugeint) as size
  from ledger.hourly_costs as hourly_costs
  join owners on owners.series_id = hourly_costs.series_id
  join ledger.series as series on series.series_id = hourly_costs.series_id
  where owners.is_split
    and hourly_costs.bucket_start >= owners.from_time
    and hourly_costs.bucket_start < owners.to_time
  group by owners.rule_number, series.account, usage_month
),
-- Only accounts with shared cost are summed.
direct_series as (
  select owners.series_id, owners.from_time, owners.to_time, owners.owner, series.account, series.billing_dimension
  from owners
  join ledger.series as series using (series_id)
  where not owners.is_split and series.account in (select account from pools)
),
direct_numbers as (
  select
    direct_series.series_id,
    direct_series.from_time,
    cast(date_trunc('month', hourly_costs.bucket_start) as date) as usage_month,
    sum(hourly_costs.cost) as cost,
    sum(hourly_costs.usage) as usage
  from ledger.hourly_costs as hourly_costs
  join direct_series on direct_series.series_id = hourly_costs.series_id
  where hourly_costs.bucket_start >= direct_series.from_time
    and hourly_costs.bucket_start < direct_series.to_time
    and hourly_costs.bucket_start >= (select min(usage_month) from pools)
    and hourly_costs.bucket_start < (select max(usage_month) + interval 1 month from pools)
  group by direct_series.series_id, direct_series.from_time, usage_month
),
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
  where rules.split is not null and rules.split.by <> 'weights'
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
    where split.by = 'weights'
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
);
comment on view ledger.allocation_shares is 'How the shared cost of each account, month and rule is split over owners';
