--! about: Resources that mount the volume behind a series, by time.
--! grain: series_id, mounter
-- Internal: public views build on it. A volume without labels belongs to the owner of the resources that mount it. What its
-- own listing says that it is attached to counts more than what the specs of resources declare. A
-- terminated resource mounts nothing. Times are rounded up to hours: a mount counts in the hours at whose start it is
-- there.
create or replace view ledger.volume_mounts as
with
-- The states of listed volumes: what each was attached to, from its creation on.
attachments as (
  select
    account, workspace, resource_name as volume,
    case split_part(attached_to, ':', 1) when 'function' then 'mcp_server' else split_part(attached_to, ':', 1) end
      as resource_type,
    nullif(regexp_replace(attached_to, '^[^:]*:', ''), '') as resource_name,
    case
      when lag(valid_from) over states is not null then valid_from
      when created_at is null then cast('-infinity' as timestamp)
      else least(date_trunc('hour', created_at), valid_from)
    end as from_time,
    coalesce(valid_to, cast('infinity' as timestamp)) as to_time
  from ledger.resources
  where resource_type = 'volume'
  window states as (partition by account, workspace, resource_name order by valid_from, recorded_at)
),
-- When specs decide: before a volume was listed, and while it is attached to nothing or no longer listed.
free as (
  select account, workspace, volume, cast('-infinity' as timestamp) as from_time, min(from_time) as to_time
  from attachments
  group by account, workspace, volume
  union all
  select account, workspace, volume, from_time, to_time from attachments where resource_name is null
  union all
  select
    account, workspace, volume, to_time,
    coalesce(
      lead(from_time) over (partition by account, workspace, volume order by from_time, to_time),
      cast('infinity' as timestamp)
    )
  from attachments
),
mounting as (
  select account, resource_type, workspace, resource_name
  from ledger.resources
  where volumes <> '[]'
  union
  select account, resource_type, workspace, resource_name from attachments
),
versions as (
  select
    resources.account, resources.resource_type, resources.workspace, resources.resource_name, resources.resource_uuid,
    resources.created_at, resources.display_name, resources.external_id, resources.labels, resources.region,
    resources.status, resources.created_by, resources.integration_connections, resources.provider,
    resources.valid_from, resources.valid_to, resources.recorded_at,
    -- As in resources_of_series: the first known state is valid from the resource's creation.
    case
      when row_number() over of_resource > 1 then resources.valid_from
      when resources.created_at is null then cast('-infinity' as timestamp)
      else least(date_trunc('hour', resources.created_at), resources.valid_from)
    end as from_time,
    -- States of earlier versions do not have their mounts: those of the next state that has them apply.
    coalesce(
      resources.volumes,
      first_value(resources.volumes ignore nulls) over (
        partition by
          resources.account, resources.resource_type, resources.workspace, resources.resource_name,
          resources.created_at, resources.resource_uuid
        order by resources.valid_from, resources.recorded_at
        rows between current row and unbounded following
      )
    ) as volumes
  from ledger.resources as resources
  join mounting using (account, resource_type, workspace, resource_name)
  window of_resource as (
    partition by
      resources.account, resources.resource_type, resources.workspace, resources.resource_name, resources.created_at,
      resources.resource_uuid
    order by resources.valid_from, resources.recorded_at
  )
),
-- Among resources of one name, a later one ends the earlier one, even if that is still listed.
in_order as (
  select
    *,
    min(from_time) over (
      partition by account, resource_type, workspace, resource_name
      order by created_at nulls first, resource_uuid nulls first, valid_from, recorded_at
      rows between 1 following and unbounded following
    ) as next_time
  from versions
),
present as (
  select *, coalesce(least(valid_to, next_time), cast('infinity' as timestamp)) as to_time
  from in_order
  where status is distinct from 'TERMINATED'
),
declared as (
  select *, unnest(cast(from_json(volumes, '["VARCHAR"]') as varchar[])) as volume
  from present
),
in_time as (
  select
    declared.*,
    greatest(declared.from_time, coalesce(free.from_time, declared.from_time)) as mounted_from,
    least(declared.to_time, coalesce(free.to_time, declared.to_time)) as mounted_to
  from declared
  left join free
    on free.account = declared.account
    and free.workspace = declared.workspace
    and free.volume = declared.volume
  union all
  select
    present.*,
    attachments.volume,
    greatest(present.from_time, attachments.from_time) as mounted_from,
    least(present.to_time, attachments.to_time) as mounted_to
  from present
  join attachments
    on attachments.account = present.account
    and attachments.workspace = present.workspace
    and attachments.resource_type = present.resource_type
    and attachments.resource_name = present.resource_name
),
mounts as (
  select
    account, resource_type, workspace, resource_name, resource_uuid, display_name, external_id, labels, region, created_by,
    integration_connections, provider, volume,
    case
      when isfinite(mounted_from) then date_trunc('hour', mounted_from + interval 1 hour - interval 1 microsecond)
      else mounted_from
    end as from_time,
    case
      when isfinite(mounted_to) then date_trunc('hour', mounted_to + interval 1 hour - interval 1 microsecond)
      else mounted_to
    end as to_time
  from in_time
  where mounted_from < mounted_to
),
-- A token without access to workspaces sees costs without one: the volume is certain if only one workspace has it.
only_workspace as (
  select account, volume, min(workspace) as workspace
  from mounts
  group by account, volume
  having count(distinct workspace) = 1
)
select
  series.series_id,
  cast(row_number() over (
    partition by series.series_id
    order by mounts.from_time, mounts.resource_type, mounts.resource_name, mounts.to_time, mounts.resource_uuid
  ) as integer) as mounter,
  mounts.from_time,
  mounts.to_time,
  series.account,
  mounts.workspace,
  mounts.resource_type,
  mounts.resource_name,
  mounts.resource_uuid,
  series.billing_dimension,
  mounts.labels,
  mounts.external_id,
  mounts.display_name,
  mounts.region,
  mounts.created_by,
  mounts.integration_connections,
  mounts.provider
from ledger.series as series
left join only_workspace
  on only_workspace.account = series.account and only_workspace.volume = series.resource_name
join mounts
  on mounts.account = series.account
  and mounts.workspace = coalesce(series.workspace, only_workspace.workspace)
  and mounts.volume = series.resource_name
where series.resource_type = 'volume'
  and mounts.from_time < mounts.to_time;
