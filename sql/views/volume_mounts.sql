--! about: Resources that mount the volume behind a series, by time.
--! grain: series_id, mounter
-- Internal: public views build on it. Volumes have no listing: one belongs to the owner of the resources that mount it. A
-- terminated resource mounts nothing. Times are rounded up to hours: a mount counts in the hours at whose start it is
-- there.
create or replace view ledger.volume_mounts as
with
mounting as (
  select distinct account, resource_type, workspace, resource_name
  from ledger.resources
  where volumes <> '[]'
),
versions as (
  select
    resources.account, resources.resource_type, resources.workspace, resources.resource_name, resources.resource_uuid,
    resources.created_at, resources.display_name, resources.external_id, resources.labels, resources.region,
    resources.status, resources.valid_from, resources.valid_to, resources.recorded_at,
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
mounts as (
  select
    account, resource_type, workspace, resource_name, resource_uuid, display_name, external_id, labels, region,
    case
      when isfinite(from_time) then date_trunc('hour', from_time + interval 1 hour - interval 1 microsecond)
      else from_time
    end as from_time,
    case
      when least(valid_to, next_time) is null then cast('infinity' as timestamp)
      else date_trunc('hour', least(valid_to, next_time) + interval 1 hour - interval 1 microsecond)
    end as to_time,
    unnest(cast(from_json(volumes, '["VARCHAR"]') as varchar[])) as volume
  from in_order
  where status is distinct from 'TERMINATED'
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
  mounts.region
from ledger.series as series
left join only_workspace
  on only_workspace.account = series.account and only_workspace.volume = series.resource_name
join mounts
  on mounts.account = series.account
  and mounts.workspace = coalesce(series.workspace, only_workspace.workspace)
  and mounts.volume = series.resource_name
where series.resource_type = 'volume'
  and mounts.from_time < mounts.to_time;
