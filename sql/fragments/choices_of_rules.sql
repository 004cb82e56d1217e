--! about: The end of a query: what rules decide for each series, by time, as the view allocation_choices. From the CTEs
--! about: rules, hits (as the view allocation_conditions_met) and facts (as the view allocation_facts).
states as materialized (
  select series_id, 0 as mounter, from_time, to_time, labels is not null as is_labelled from ledger.series_states
  union all
  select series_id, mounter, from_time, to_time, labels is not null from ledger.volume_mounts
),
-- The same rules apply at every time between two of these instants.
instants as (
  select from_time as instant from rules
  union
  select to_time from rules
),
periods as (
  select instant as from_time, lead(instant) over (order by instant) as to_time
  from instants
  qualify to_time is not null
),
matching as (
  select hits.series_id, hits.mounter, hits.from_time, hits.rule_number, max(hits.owner) as line_owner
  from hits
  join rules using (rule_number)
  group by hits.series_id, hits.mounter, hits.from_time, hits.rule_number, rules.condition_count
  having count(*) = rules.condition_count
  union all
  select states.series_id, states.mounter, states.from_time, rules.rule_number, null
  from states
  cross join rules
  where rules.condition_count = 0
),
chosen as (
  select
    matching.series_id,
    matching.mounter,
    matching.from_time as state_from_time,
    greatest(states.from_time, periods.from_time) as from_time,
    least(states.to_time, periods.to_time) as to_time,
    bool_or(states.is_labelled) as is_labelled,
    min(matching.rule_number) as rule_number,
    arg_min_null(matching.line_owner, matching.rule_number) as line_owner
  from matching
  join rules using (rule_number)
  join periods on rules.from_time <= periods.from_time and periods.to_time <= rules.to_time
  join states
    on states.series_id = matching.series_id
    and states.mounter = matching.mounter
    and states.from_time = matching.from_time
  where greatest(states.from_time, periods.from_time) < least(states.to_time, periods.to_time)
  group by
    matching.series_id, matching.mounter, matching.from_time, greatest(states.from_time, periods.from_time),
    least(states.to_time, periods.to_time)
),
entries as (
  select
    rules.rule_number,
    dimensions.place,
    rules.dimensions[dimensions.place] as dimension,
    list_filter(rules.owner, lambda entry : entry.dimension = rules.dimensions[dimensions.place])[1] as entry
  from rules
  cross join (select unnest(range(1, len(dimensions) + 1)) as place from rules where rule_number = 1) as dimensions
),
owned as (
  select
    chosen.series_id,
    chosen.mounter,
    chosen.from_time,
    entries.place,
    entries.dimension,
    coalesce(
      json_extract_string(chosen.line_owner, '/' || entries.dimension),
      facts.value,
      entries.entry.value
    ) as value,
    facts.value is not null as has_label
  from chosen
  join entries using (rule_number)
  left join facts
    on facts.series_id = chosen.series_id
    and facts.mounter = chosen.mounter
    and facts.from_time = chosen.state_from_time
    and facts.field = 'label:' || entries.entry.label
),
owners as (
  select
    series_id,
    mounter,
    from_time,
    '{' || string_agg(to_json(dimension) || ':' || coalesce(to_json(value), 'null'), ',' order by place) || '}' as owner,
    bool_or(has_label) as has_label,
    max(value) filter (dimension = 'team') as team,
    max(value) filter (dimension = 'product') as product,
    max(value) filter (dimension = 'environment') as environment
  from owned
  group by series_id, mounter, from_time
)
select
  chosen.series_id,
  chosen.mounter,
  chosen.from_time,
  chosen.to_time,
  chosen.rule_number,
  rules.rule,
  -- Whether the rule tests what the cost itself is, or what its own listing says of it, not only where it is.
  len(list_filter(
    rules.conditions,
    lambda condition : condition.field in ('resource_type', 'resource_name', 'resource_uuid', 'billing_dimension')
      or (chosen.is_labelled and condition.kind <> 'absent' and starts_with(condition.field, 'label:'))
  )) > 0 or owners.has_label as names_resource,
  rules.split is not null as is_split,
  owners.owner,
  owners.team,
  owners.product,
  owners.environment
from chosen
join rules using (rule_number)
join owners
  on owners.series_id = chosen.series_id
  and owners.mounter = chosen.mounter
  and owners.from_time = chosen.from_time
