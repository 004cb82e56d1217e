--! about: The groups of `by_key`, the largest first, and the rest as one group. Needs: by_key (bucket, is_before, key,
--! about: is_shared, cost, usage, unit, units), $top, $measure.
ranked as (
  select
    key,
    is_shared,
    row_number() over (
      order by
        greatest(
          coalesce(sum(case $measure when 'usage' then usage else cost end) filter (not is_before), 0),
          coalesce(sum(case $measure when 'usage' then usage else cost end) filter (is_before), 0)
        ) desc,
        key nulls last,
        is_shared
    ) as place,
    count(*) over () as all_groups
  from by_key
  group by key, is_shared
)
select
  strftime(by_key.bucket, '%Y-%m-%dT%H:%M:%SZ') as bucket,
  by_key.is_before,
  case when ranked.place <= cast($top as integer) then by_key.key end as key,
  ranked.place <= cast($top as integer) and ranked.is_shared as is_shared,
  ranked.place > cast($top as integer) as is_rest,
  cast(least(ranked.place, cast($top as integer) + 1) as integer) as place,
  cast(max(ranked.all_groups) as integer) as all_groups,
  cast(sum(by_key.cost) as decimal(38, 12)) as cost,
  -- Usage of several units cannot be added up.
  case when max(by_key.units) = 1 and count(distinct coalesce(by_key.unit, '')) = 1
    then cast(sum(by_key.usage) as decimal(38, 6))
  end as usage,
  case when max(by_key.units) = 1 and count(distinct coalesce(by_key.unit, '')) = 1 then min(by_key.unit) end as unit
from by_key
join ranked on ranked.key is not distinct from by_key.key and ranked.is_shared = by_key.is_shared
group by all
order by place, is_before, bucket;
