--! about: As explore, where the group or a filter changes over time: regions, labels and owners. $field_filters is a JSON
--! about: list of conditions on labels and owners; $group_pointer is the JSON pointer of a label or a part of the owner.
with
--! include: explored_costs
filters as (
  select unnest(from_json($field_filters, '[{"of": "VARCHAR", "pointer": "VARCHAR", "value": "VARCHAR", "shared": "BOOLEAN"}]'), recursive := true)
),
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
  where
--! include: series_filters
    and ($region is null or coalesce(parts.region, '') = $region)
    and not exists (
      select 1
      from filters
      where not case
        when filters.of = 'label' then coalesce(json_extract_string(parts.labels, filters.pointer), '') = filters.value
        when filters.shared then parts.is_split
        when filters.of = 'owner' then not parts.is_split and coalesce(parts.owner, '') = filters.value
        else not parts.is_split and coalesce(json_extract_string(parts.owner, filters.pointer), '') = filters.value
      end
    )
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
