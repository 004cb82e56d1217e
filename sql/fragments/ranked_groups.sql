--! about: The end of a query: the groups of explore by bucket, the largest first, and the rest as one group. From the CTEs
--! about: keyed (member, unit, billing_dimension, key, is_shared) and member_costs (member, bucket_start, cost, usage). Needs: $from, $step,
--! about: $top, $measure.
sums as (
  -- The measure is chosen after summing: cost and usage have different scales, and casting every row is slow.
  select
    member,
    case $measure when 'usage' then sum(usage) filter (not is_before) else sum(cost) filter (not is_before) end as now,
    case $measure when 'usage' then sum(usage) filter (is_before) else sum(cost) filter (is_before) end as before
  from (select member, bucket_start < cast($from as timestamp) as is_before, cost, usage from member_costs)
  group by member
),
ranked as (
  select
    keyed.key,
    keyed.is_shared,
    row_number() over (
      order by
        case $measure
          when 'change' then abs(coalesce(sum(sums.now), 0) - coalesce(sum(sums.before), 0))
          else greatest(coalesce(sum(sums.now), 0), coalesce(sum(sums.before), 0))
        end desc,
        keyed.key nulls last,
        keyed.is_shared
    ) as place,
    count(*) over () as all_groups
  from keyed
  join sums using (member)
  group by keyed.key, keyed.is_shared
),
placed as (
  select
    keyed.member,
    coalesce(keyed.unit, '') as unit,
    coalesce(keyed.billing_dimension, '') as billing_dimension,
    cast(least(ranked.place, cast($top as integer) + 1) as integer) as place
  from keyed
  join ranked on ranked.key is not distinct from keyed.key and ranked.is_shared = keyed.is_shared
),
-- The places are known before the buckets are summed: there are few of them, and many keys.
by_place as (
  select
    date_trunc($step, member_costs.bucket_start) as bucket,
    member_costs.bucket_start < cast($from as timestamp) as is_before,
    placed.place,
    placed.unit,
    placed.billing_dimension,
    sum(member_costs.cost) as cost,
    sum(member_costs.usage) as usage
  from member_costs
  join placed using (member)
  group by all
),
summed as (
  select
    bucket,
    is_before,
    place,
    sum(cost) as cost,
    -- Usage of several billing dimensions cannot be added up, also in one unit: storage and compute have rates of their own.
    case when count(*) = 1 then sum(usage) end as usage,
    case when count(*) = 1 then nullif(min(unit), '') end as unit,
    case when count(*) = 1 then min(billing_dimension) end as billing_dimension
  from by_place
  group by bucket, is_before, place
)
select
  strftime(summed.bucket, '%Y-%m-%dT%H:%M:%SZ') as bucket,
  summed.is_before,
  ranked.key,
  coalesce(ranked.is_shared, false) as is_shared,
  summed.place > cast($top as integer) as is_rest,
  summed.place,
  cast((select any_value(all_groups) from ranked) as integer) as all_groups,
  cast(summed.cost as decimal(38, 12)) as cost,
  cast(summed.usage as decimal(38, 6)) as usage,
  summed.unit,
  summed.billing_dimension
from summed
left join ranked on ranked.place = summed.place and summed.place <= cast($top as integer)
order by summed.place, summed.is_before, summed.bucket;
