--! about: The owner of each series, by time: from the first allocation rule that matches. Internal: public views build
--! about: on it. A cost that a rule splits has no owner here.
--! grain: series_id, from_time
create or replace view ledger.allocation_owners as
with
rules as materialized (select * from ledger.allocation_rules),
states as materialized (select series_id, from_time, to_time from ledger.series_states),
hits as materialized (select * from ledger.allocation_conditions_met),
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
  select hits.series_id, hits.from_time, hits.rule_number, max(hits.owner) as line_owner
  from hits
  join rules using (rule_number)
  group by hits.series_id, hits.from_time, hits.rule_number, rules.condition_count
  having count(*) = rules.condition_count
  union all
  select states.series_id, states.from_time, rules.rule_number, null
  from states
  cross join rules
  where rules.condition_count = 0
),
chosen as (
  select
    matching.series_id,
    matching.from_time as state_from_time,
    greatest(states.from_time, periods.from_time) as from_time,
    least(states.to_time, periods.to_time) as to_time,
    min(matching.rule_number) as rule_number,
    arg_min_null(matching.line_owner, matching.rule_number) as line_owner
  from matching
  join rules using (rule_number)
  join periods on rules.from_time <= periods.from_time and periods.to_time <= rules.to_time
  join states on states.series_id = matching.series_id and states.from_time = matching.from_time
  where greatest(states.from_time, periods.from_time) < least(states.to_time, periods.to_time)
  group by
    matching.series_id, matching.from_time, greatest(states.from_time, periods.from_time),
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
    chosen.from_time,
    entries.place,
    entries.dimension,
    coalesce(
      json_extract_string(chosen.line_owner, '/' || entries.dimension),
      facts.value,
      entries.entry.value
    ) as value
  from chosen
  join entries using (rule_number)
  left join ledger.allocation_facts as facts
    on facts.series_id = chosen.series_id
    and facts.from_time = chosen.state_from_time
    and facts.field = 'label:' || entries.entry.label
),
owners as (
  select
    series_id,
    from_time,
    '{' || string_agg(to_json(dimension) || ':' || coalesce(to_json(value), 'null'), ',' order by place) || '}' as owner,
    max(value) filter (dimension = 'team') as team,
    max(value) filter (dimension = 'product') as product,
    max(value) filter (dimension = 'environment') as environment
  from owned
  group by series_id, from_time
)
select
  chosen.series_id,
  chosen.from_time,
  chosen.to_time,
  chosen.rule_number,
  rules.rule,
  rules.split is not null as is_split,
  owners.owner,
  owners.team,
  owners.product,
  owners.environment
from chosen
join rules using (rule_number)
join owners on owners.series_id = chosen.series_id and owners.from_time = chosen.from_time;
comment on view ledger.allocation_owners is 'Owner of each series, by time: from the first allocation rule that matches';
