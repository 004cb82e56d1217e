--! about: State of the resource behind each series, by time.
--! grain: series_id, from_time
-- Internal: public views build on it. No two rows of one series overlap, whatever the listings say.
create or replace view ledger.resources_of_series as
with
versions as (
  select
    account, resource_type, workspace, resource_name, resource_uuid, created_at, display_name, external_id, labels,
    region, memory_mb, generation, status, created_by, integration_connections, provider, valid_from, valid_to,
    recorded_at,
    -- The first known state is valid from the resource's creation: it also explains hours before the first listing.
    -- Hours before the creation belong to another resource.
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
-- A token without access to workspaces sees costs without one: the resource is certain if only one workspace has that
-- name.
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
-- Among resources of one name, a later one ends the earlier one, even if that is still listed, as terminated sandboxes
-- are.
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
    versions.created_by,
    versions.integration_connections,
    versions.provider,
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
  series_id, --: Series
  from_time, --: The state applies to hours that start at this instant or later, UTC; -infinity if the platform does not report when the resource was created
  least(valid_to, coalesce(next_time, valid_to)) as to_time, --: The state applies to hours that start before this instant, UTC; infinity for the current state
  display_name,
  external_id,
  labels,
  region, --: Region
  memory_mb,
  generation,
  status, --: Deployment status
  created_by, --: ID of who created it
  integration_connections, --: Names of its integration connections, a JSON array
  provider --: Kind of provider behind a model
from in_order
where from_time < least(valid_to, coalesce(next_time, valid_to));
