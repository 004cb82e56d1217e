--! about: Labels of the resources that mount the volume behind a series, by time, with their parts.
--! grain: series_id, from_time, parts_before
-- Internal: reports build on it. A volume that was ever mounted has rows for all time: those in which nobody mounts it
-- have no labels.
create or replace view ledger.mounted_labels as
with
mounts as materialized (select series_id, from_time, to_time, labels from ledger.volume_mounts),
steps as materialized (
  select series_id, from_time as instant, labels, 1 as step from mounts
  union all
  select series_id, to_time, labels, -1 from mounts
),
windows as (
  select series_id, instant as from_time, lead(instant) over (partition by series_id order by instant) as to_time
  from (
    select series_id, instant from steps
    union
    select series_id, cast('-infinity' as timestamp) from mounts
    union
    select series_id, cast('infinity' as timestamp) from mounts
  )
  qualify lead(instant) over (partition by series_id order by instant) is not null
),
counted as (
  select
    windows.series_id,
    windows.from_time,
    windows.to_time,
    found.labels,
    sum(coalesce(changes.change, 0)) over (
      partition by windows.series_id, found.labels order by windows.from_time
    ) as parts
  from windows
  join (select distinct series_id, labels from steps) as found using (series_id)
  left join (
    select series_id, instant, labels, sum(step) as change from steps group by series_id, instant, labels
  ) as changes
    on changes.series_id = windows.series_id
    and changes.instant = windows.from_time
    and changes.labels is not distinct from found.labels
),
running as (
  select
    series_id,
    from_time,
    labels,
    cast(sum(parts) over up_to as bigint) - cast(parts as bigint) as parts_before,
    cast(sum(parts) over up_to as bigint) as parts_through,
    cast(sum(parts) over (partition by series_id, from_time) as bigint) as all_parts
  from counted
  where parts > 0
  window up_to as (
    partition by series_id, from_time order by labels nulls last
    rows between unbounded preceding and current row
  )
)
select
  windows.series_id,
  windows.from_time,
  windows.to_time,
  running.labels,
  coalesce(running.parts_before, 0) as parts_before,
  coalesce(running.parts_through, 1) as parts_through,
  coalesce(running.all_parts, 1) as all_parts
from windows
left join running on running.series_id = windows.series_id and running.from_time = windows.from_time;
