--! about: Which state of which resource each series is a cost of, by time; of the ledger, for the views that the public
--! about: ones are made of. No two rows of one series overlap, whatever the listings say.
--! grain: series_id, from_time
create or replace view ledger.resources_of_series as
with
versions as (
  select
    account, resource_type, workspace, resource_name, resource_uuid, created_at, display_name, external_id, labels,
    region, memory_mb, generation, status, valid_from, valid_to, recorded_at,
    -- What is first known of a resource holds since it was made: hours before somebody looked are its costs too, and
    -- those before it was made are another one's.
    case
      when row_number() over of_resource > 1 then valid_from
      when created_at is null then cast('-infinity' as timestamp)
      else least(date_trunc('hour', created_at), valid_from)
    end as from_time
  from ledger.resources
  window of_resource as (
    partition by account, resource_type, workspace, resource_name, created_at, resource_uuid
    order by valid_from, recorded_at
  )
),
-- A token that may not see workspaces tells costs without one: such a name is known where only one workspace has it.
only_workspace as (
  select account, resource_type, resource_name, min(workspace) as workspace
  from ledger.resources
  group by account, resource_type, resource_name
  having count(distinct workspace) = 1
),
named as (
  select
    series.series_id,
    series.account,
    series.resource_type,
    series.resource_name,
    series.resource_uuid,
    coalesce(series.workspace, only_workspace.workspace) as workspace
  from ledger.series as series
  left join only_workspace
    on only_workspace.account = series.account
    and only_workspace.resource_type = series.resource_type
    and only_workspace.resource_name = series.resource_name
),
-- Of several resources of one name a later one follows an earlier one, also where that is still listed, as a
-- terminated sandbox is.
in_order as (
  select
    named.series_id,
    versions.display_name,
    versions.external_id,
    versions.labels,
    versions.region,
    versions.memory_mb,
    versions.generation,
    versions.status,
    versions.from_time,
    coalesce(versions.valid_to, cast('infinity' as timestamp)) as valid_to,
    min(versions.from_time) over (
      partition by named.series_id
      order by
        versions.created_at nulls first, versions.resource_uuid nulls first, versions.valid_from, versions.recorded_at
      rows between 1 following and unbounded following
    ) as next_time
  from named
  join versions
    on versions.account = named.account
    and versions.resource_type = named.resource_type
    and versions.workspace = named.workspace
    and versions.resource_name = named.resource_name
    and (
      named.resource_uuid is null
      or versions.resource_uuid is null
      or versions.resource_uuid = named.resource_uuid
    )
)
select
  series_id,
  from_time,
  least(valid_to, coalesce(next_time, valid_to)) as to_time,
  display_name,
  external_id,
  labels,
  region,
  memory_mb,
  generation,
  status
from in_order
where from_time < least(valid_to, coalesce(next_time, valid_to));
comment on view ledger.resources_of_series is 'Which state of which resource each series is a cost of, by time';
comment on column ledger.resources_of_series.series_id is 'Series';
comment on column ledger.resources_of_series.from_time is 'Hours that begin here or later, UTC; -infinity where the platform does not tell when it was made';
comment on column ledger.resources_of_series.to_time is 'Hours that begin before this, UTC; infinity where it is still so';
comment on column ledger.resources_of_series.display_name is 'Name for people';
comment on column ledger.resources_of_series.external_id is 'The owner''s own identifier';
comment on column ledger.resources_of_series.labels is 'Labels: a JSON object of texts; null where there are none';
comment on column ledger.resources_of_series.region is 'Region';
comment on column ledger.resources_of_series.memory_mb is 'Memory, megabytes';
comment on column ledger.resources_of_series.generation is 'Generation of the runtime';
comment on column ledger.resources_of_series.status is 'Deployment status';
