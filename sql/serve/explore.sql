--! about: Cost and usage by bucket ($step: hour, day, week, month) and one dimension ($group_by), the $top largest by
--! about: cost and all others. Filters that are null admit everything.
with keyed as (
  select
    series_id,
    unit,
    case $group_by
      when 'account' then account
      when 'workspace' then workspace
      when 'resource_type' then resource_type
      when 'resource_name' then resource_name
      when 'billing_dimension' then billing_dimension
    end as key
  from visible_series
  where ($account is null or account = $account)
    and ($workspace is null or coalesce(workspace, '') = $workspace)
    and ($resource_type is null or coalesce(resource_type, '') = $resource_type)
    and ($resource_name is null or coalesce(resource_name, '') = $resource_name)
    and ($billing_dimension is null or billing_dimension = $billing_dimension)
),
hours as (
  -- Names are joined after adding up by series, which is much less work.
  select series_id, date_trunc($step, bucket_start) as bucket, sum(cost) as cost, sum(usage) as usage
  from visible_hours
  where bucket_start >= cast($from as timestamp) and bucket_start < cast($to as timestamp)
  group by all
),
by_key as (
  select
    hours.bucket,
    keyed.key,
    sum(hours.cost) as cost,
    sum(hours.usage) as usage,
    min(keyed.unit) as unit,
    count(distinct coalesce(keyed.unit, '')) as units
  from hours
  join keyed using (series_id)
  group by all
),
ranked as (
  select key, row_number() over (order by sum(cost) desc, key nulls last) as place
  from by_key
  group by key
)
select
  strftime(by_key.bucket, '%Y-%m-%dT%H:%M:%SZ') as bucket,
  case when ranked.place <= cast($top as integer) then by_key.key end as key,
  ranked.place > cast($top as integer) as is_rest,
  cast(least(ranked.place, cast($top as integer) + 1) as integer) as place,
  cast(sum(by_key.cost) as decimal(38, 12)) as cost,
  -- Usage of several units cannot be added up.
  case when max(by_key.units) = 1 and count(distinct coalesce(by_key.unit, '')) = 1
    then cast(sum(by_key.usage) as decimal(38, 6))
  end as usage,
  case when max(by_key.units) = 1 and count(distinct coalesce(by_key.unit, '')) = 1 then min(by_key.unit) end as unit
from by_key
join ranked on ranked.key is not distinct from by_key.key
group by all
order by place, bucket;
