--! about: The end of a query: the owner of each series, by time, as the view allocation_owners. From the CTEs rules and
--! about: choices (as the view allocation_choices).
mounted as materialized (select distinct series_id from choices where mounter > 0),
-- Where the mounts decide: no rule names the volume itself.
open_times as materialized (
  select choices.*
  from choices
  semi join mounted using (series_id)
  where choices.mounter = 0 and not choices.names_resource
),
mounts as (
  select
    open_times.series_id,
    open_times.from_time as open_from,
    greatest(choices.from_time, open_times.from_time) as from_time,
    least(choices.to_time, open_times.to_time) as to_time,
    choices.rule_number,
    choices.is_split,
    choices.owner
  from open_times
  join choices on choices.series_id = open_times.series_id and choices.mounter > 0
  where choices.from_time < open_times.to_time and open_times.from_time < choices.to_time
),
steps as materialized (
  select series_id, open_from, from_time as instant, rule_number, is_split, owner, 1 as step from mounts
  union all
  select series_id, open_from, to_time, rule_number, is_split, owner, -1 from mounts
),
-- Between two of these instants, the same resources mount the volume.
windows as (
  select
    series_id,
    open_from,
    instant as from_time,
    lead(instant) over (partition by series_id, open_from order by instant) as to_time
  from (
    select series_id, open_from, instant from steps
    union
    select series_id, from_time, from_time from open_times
    union
    select series_id, from_time, to_time from open_times
  )
  qualify lead(instant) over (partition by series_id, open_from order by instant) is not null
),
-- How many mounters have which owner, added up over the instants.
counted as (
  select
    windows.series_id,
    windows.open_from,
    windows.from_time,
    windows.to_time,
    outcomes.rule_number,
    outcomes.is_split,
    outcomes.owner,
    sum(coalesce(changes.change, 0)) over (
      partition by
        windows.series_id, windows.open_from, outcomes.rule_number, outcomes.is_split, outcomes.owner
      order by windows.from_time
    ) as mounters
  from windows
  join (select distinct series_id, open_from, rule_number, is_split, owner from steps) as outcomes
    using (series_id, open_from)
  left join (
    select series_id, open_from, instant, rule_number, is_split, owner, sum(step) as change
    from steps
    group by series_id, open_from, instant, rule_number, is_split, owner
  ) as changes
    on changes.series_id = windows.series_id
    and changes.open_from = windows.open_from
    and changes.instant = windows.from_time
    and changes.rule_number = outcomes.rule_number
    and changes.is_split = outcomes.is_split
    and changes.owner = outcomes.owner
),
-- A mounter whose own cost a rule splits counts only if no mounter has an owner.
by_owner as (
  select
    series_id, open_from, from_time, to_time, is_split,
    case when is_split then '' else owner end as owner,
    min(rule_number) as rule_number,
    sum(mounters) as mounters
  from counted
  where mounters > 0
  group by series_id, open_from, from_time, to_time, is_split, case when is_split then '' else owner end
  qualify is_split = min(is_split) over (partition by series_id, open_from, from_time)
),
shared as (
  select
    series_id,
    open_from,
    from_time,
    to_time,
    min(rule_number) as rule_number,
    list({'owner': owner, 'weight': cast(mounters as varchar)} order by owner) as owners
  from by_owner
  group by series_id, open_from, from_time, to_time
),
-- Every window of the open times, also those in which nobody mounts the volume; equal neighbours are one.
parts as (
  select
    windows.series_id,
    windows.open_from,
    windows.from_time,
    windows.to_time,
    shared.rule_number,
    shared.owners,
    (shared.rule_number, shared.owners) is distinct from lag((shared.rule_number, shared.owners)) over in_time
      or lag(windows.series_id) over in_time is null as is_new
  from windows
  left join shared
    on shared.series_id = windows.series_id
    and shared.open_from = windows.open_from
    and shared.from_time = windows.from_time
  window in_time as (partition by windows.series_id, windows.open_from order by windows.from_time)
),
joined as (
  select
    series_id,
    open_from,
    min(from_time) as from_time,
    max(to_time) as to_time,
    any_value(rule_number) as rule_number,
    any_value(owners) as owners
  from (
    select
      *, count(*) filter (is_new) over (partition by series_id, open_from order by from_time) as run
    from parts
  )
  group by series_id, open_from, run
),
by_mounts as (
  select
    joined.series_id,
    joined.from_time,
    joined.to_time,
    case when len(joined.owners) > 1 then last_rule.rule_number + dense_rank() over (order by joined.owners)
      else coalesce(joined.rule_number, open_times.rule_number) end as rule_number,
    case when len(joined.owners) = 1 then joined.owners[1].owner else '' end as owner,
    case when len(joined.owners) > 1 then joined.owners end as owners,
    joined.owners is not null as is_mounted,
    open_times.rule_number as open_rule,
    open_times.owner as open_owner,
    last_rule.dimensions
  from joined
  join open_times on open_times.series_id = joined.series_id and open_times.from_time = joined.open_from
  cross join (select max(rule_number) as rule_number, any_value(dimensions) as dimensions from rules) as last_rule
),
named as (
  select
    by_mounts.series_id,
    by_mounts.from_time,
    by_mounts.to_time,
    cast(by_mounts.rule_number as integer) as rule_number,
    case
      when by_mounts.owners is null then rules.rule
      else 'mounts: ' || list_aggregate(
        list_transform(
          by_mounts.owners,
          lambda part : part.weight || '/'
            || cast(list_sum(list_transform(by_mounts.owners, lambda each : cast(each.weight as bigint))) as varchar)
            || ' ' || coalesce(
              nullif(
                list_aggregate(
                  list_transform(
                    list_filter(
                      by_mounts.dimensions,
                      lambda dimension : json_extract_string(part.owner, '/' || dimension) is not null
                    ),
                    lambda dimension : dimension || ' ' || json_extract_string(part.owner, '/' || dimension)
                  ),
                  'string_agg',
                  ', '
                ),
                ''
              ),
              'nobody'
            )
        ),
        'string_agg',
        ' + '
      )
    end as rule,
    by_mounts.owners is not null or rules.split is not null as is_split,
    case
      when not by_mounts.is_mounted then by_mounts.open_owner
      when by_mounts.owner <> '' then by_mounts.owner
      else '{' || list_aggregate(
        list_transform(by_mounts.dimensions, lambda dimension : to_json(dimension) || ':null'), 'string_agg', ','
      ) || '}'
    end as owner,
    by_mounts.is_mounted,
    case
      when by_mounts.owners is not null
        then {
          'by': 'mounts', 'over': by_mounts.dimensions, 'billing_dimension': cast(null as varchar),
          'owners': by_mounts.owners
        }
    end as mount_split
  from by_mounts
  left join rules on rules.rule_number = by_mounts.rule_number
)
select
  choices.series_id,
  choices.from_time,
  choices.to_time,
  choices.rule_number,
  choices.rule,
  choices.is_split,
  choices.owner,
  choices.team,
  choices.product,
  choices.environment,
  false as is_mounted,
  null as mount_split
from choices
anti join open_times on open_times.series_id = choices.series_id and open_times.from_time = choices.from_time
where choices.mounter = 0
union all
select
  series_id,
  from_time,
  to_time,
  rule_number,
  rule,
  is_split,
  owner,
  json_extract_string(owner, '/team'),
  json_extract_string(owner, '/product'),
  json_extract_string(owner, '/environment'),
  is_mounted,
  mount_split
from named
