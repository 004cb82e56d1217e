--! about: As explore, where the group or a filter changes over time: regions, labels and owners. $group_pointer is the
--! about: JSON pointer of a label or a part of the owner.
with
--! include: explored_costs
--! include: explore_filters
parts as (
  select
    states.series_id,
    greatest(states.from_time, coalesce(ownership.from_time, states.from_time)) as from_time,
    least(states.to_time, coalesce(ownership.to_time, states.to_time)) as to_time,
    states.labels,
    states.region,
    ownership.owner,
    coalesce(ownership.is_split, false) as is_split
  from visible_states as states
  left join visible_ownership as ownership
    on ownership.series_id = states.series_id
    and ownership.from_time < states.to_time
    and ownership.to_time > states.from_time
),
keyed as materialized (
  select
    row_number() over () as member,
    parts.series_id,
    parts.from_time,
    parts.to_time,
    series.unit,
    series.billing_dimension,
    parts.is_split and $group_by in ('owner', 'owner_part') as is_shared,
    case $group_by
--! include: series_key
      when 'region' then parts.region
      when 'label' then json_extract_string(parts.labels, $group_pointer)
      when 'owner' then case when not parts.is_split then parts.owner end
      when 'owner_part' then case when not parts.is_split then json_extract_string(parts.owner, $group_pointer) end
    end as key
  from parts
  join visible_series as series using (series_id)
  cross join filters
  where len(list_filter(filters.conditions, lambda f : f.is_except = case
    when parts.is_split and f.of in ('owner', 'owner_part') then f.has_shared
    else list_contains(f.listed, coalesce(
      case f.of
--! include: series_key
        when 'region' then parts.region
        when 'label' then json_extract_string(parts.labels, f.pointer)
        when 'owner' then parts.owner
        when 'owner_part' then json_extract_string(parts.owner, f.pointer)
      end, ''))
  end)) = 0
),
member_costs as (
  select keyed.member, explored_costs.bucket_start, explored_costs.cost, explored_costs.usage
  from explored_costs
  join keyed
    on keyed.series_id = explored_costs.series_id
    and explored_costs.valid_at >= keyed.from_time
    and explored_costs.valid_at < keyed.to_time
),
--! include: ranked_groups
