--! about: CTEs that say which resources nobody uses and why (unused), as the report idle: resources with storage and without
--! about: usage, or that are off, or that the platform saw no use of, or whose warm instances do all the work; and what else
--! about: nobody needs (found): old images and snapshots. They need $until, $days, $workspace and CTEs named (a series with its
--! about: names, is_storage, known_until, first_bucket, last_used_bucket, cost_of_last_day), used_types (account,
--! about: resource_type) and listed_states (rows of ledger.resources).
by_uuid as (
  select
    account,
    workspace,
    resource_type,
    resource_name,
    resource_uuid,
    known_until,
    min(first_bucket) filter (where is_storage) as storage_start,
    max(last_used_bucket) filter (where not is_storage) + interval 1 hour as last_used_end,
    sum(cost_of_last_day) filter (where is_storage) as storage_cost_of_last_day,
    sum(cost_of_last_day) as cost_of_last_day
  from named
  group by account, workspace, resource_type, resource_name, resource_uuid, known_until
),
resources as (
  select
    account,
    workspace,
    resource_type,
    resource_name,
    resource_uuid,
    known_until,
    storage_start,
    -- Storage without uuid belongs to any resource with its name.
    case
      when resource_uuid is null
        then max(last_used_end) over (partition by account, workspace, resource_type, resource_name)
      else last_used_end
    end as last_used_end,
    storage_cost_of_last_day,
    cost_of_last_day
  from by_uuid
),
-- What the listings say. Of resources with one name, the one that was created last.
states as (
  select
    account, workspace, resource_type, resource_name, resource_uuid, created_at, status, is_enabled, memory_mb, valid_from,
    valid_to,
    coalesce(status, '') in ('ARCHIVED', 'DEACTIVATED', 'FAILED', 'TERMINATED') or is_enabled = false as is_off
  from listed_states
),
listed as (
  select
    states.account,
    states.workspace,
    states.resource_type,
    states.resource_name,
    states.created_at,
    states.resource_uuid,
    arg_max(states.status, states.valid_from) as status,
    arg_max(states.is_enabled, states.valid_from) as is_enabled,
    max(states.valid_to is null) as is_listed,
    -- Since when it has been off without a break.
    min(states.valid_from) filter (
      where states.is_off and states.valid_from >= coalesce(switched.last_on, cast('-infinity' as timestamp))
    ) as off_since
  from states
  left join (
    select account, workspace, resource_type, resource_name, created_at, resource_uuid,
      max(coalesce(valid_to, cast('infinity' as timestamp))) as last_on
    from states
    where not is_off
    group by all
  ) as switched
    on switched.account = states.account
    and switched.workspace = states.workspace
    and switched.resource_type = states.resource_type
    and switched.resource_name = states.resource_name
    and switched.created_at is not distinct from states.created_at
    and switched.resource_uuid is not distinct from states.resource_uuid
  where states.valid_from <= cast($until as timestamp)
  group by
    states.account, states.workspace, states.resource_type, states.resource_name, states.created_at, states.resource_uuid
),
newest as (
  select
    listed.account, listed.workspace, listed.resource_type, listed.resource_name, listed.status, listed.is_enabled,
    listed.off_since, resource_use.runtime_state, resource_use.last_used_at, resource_use.min_scale,
    resource_use.expires_at, resource_use.time_to_live, resource_use.expiration_policies
  from listed
  left join ledger.resource_use as resource_use
    on resource_use.account = listed.account
    and resource_use.workspace = listed.workspace
    and resource_use.resource_type = listed.resource_type
    and resource_use.resource_name = listed.resource_name
    and resource_use.created_at is not distinct from listed.created_at
    and resource_use.resource_uuid is not distinct from listed.resource_uuid
  where listed.is_listed
  qualify row_number() over (
    partition by listed.account, listed.workspace, listed.resource_type, listed.resource_name
    order by listed.created_at desc nulls last, listed.resource_uuid nulls last
  ) = 1
),
-- Volumes whose own listing says that nothing has them, whatever specs declare.
detached as (
  select account, workspace, resource_name, max(valid_from) as since
  from listed_states
  where resource_type = 'volume' and valid_to is null and attached_to is null
  group by account, workspace, resource_name
),
-- Workspaces of which the newest listings of all that mounts volumes and runs images were read to their end. Of the others
-- nobody knows what is in use.
workloads_known as (
  select listings.account, reached.workspace
  from listings
  join (select distinct account, workspace from states) as reached
    on reached.account = listings.account and reached.workspace = coalesce(listings.token_workspace, reached.workspace)
  where listings.is_last
    and listings.outcome = 'read'
    and listings.resource_type in ('agent', 'job', 'mcp_server', 'sandbox')
  group by listings.account, reached.workspace
  having count(distinct listings.resource_type) = 4
),
-- Volumes that a resource mounts are in use.
mounted as (
  select distinct series.account, series.workspace, series.resource_name
  from ledger.volume_mounts as mounts
  join named using (series_id)
  join ledger.series as series using (series_id)
  where mounts.from_time < named.known_until and mounts.to_time >= named.known_until
    and not exists (
      from detached
      where detached.account = series.account
        and detached.workspace = series.workspace
        and detached.resource_name = series.resource_name
        and detached.since <= named.known_until - to_days($days)
    )
),
-- Usage that is the same in every hour is that of the warm instances alone. Only resources with some are read.
warm_hours as (
  select
    named.account, named.workspace, named.resource_type, named.resource_name, hourly_costs.bucket_start,
    any_value(named.known_until) as known_until, sum(hourly_costs.usage) as usage
  from named
  semi join (select * from newest where min_scale > 0) as warm
    on warm.account = named.account
    and warm.workspace = named.workspace
    and warm.resource_type = named.resource_type
    and warm.resource_name = named.resource_name
  join hourly_costs
    on hourly_costs.series_id = named.series_id
    and hourly_costs.bucket_start >= named.known_until - to_days($days)
    and hourly_costs.bucket_start < named.known_until
  where not named.is_storage
  group by all
),
warm as (
  select account, workspace, resource_type, resource_name
  from (
    select account, workspace, resource_type, resource_name, bucket_start, usage
    from warm_hours
    where usage > 0
  )
  group by account, workspace, resource_type, resource_name
  having count(*) = 24 * $days and max(usage) <= min(usage) * 1.001
),
signals as (
  select
    resources.*,
    used_types.account is not null as has_usage,
    newest.* exclude (account, workspace, resource_type, resource_name),
    coalesce(resources.resource_type = 'volume', false) as is_unmounted,
    coalesce(
      resources.storage_cost_of_last_day > 0
        and coalesce(resources.last_used_end, resources.storage_start) <= resources.known_until - to_days($days)
        -- The platform may know of a use that is not billed.
        and coalesce(newest.last_used_at, cast('-infinity' as timestamp)) <= resources.known_until - to_days($days),
      false
    ) as is_by_usage,
    coalesce(newest.off_since <= resources.known_until - to_days($days), false) as is_by_state,
    coalesce(newest.last_used_at <= resources.known_until - to_days($days), false) as is_by_last_use,
    warm.account is not null as is_by_warm
  from resources
  left join used_types
    on used_types.account = resources.account
    and used_types.resource_type is not distinct from resources.resource_type
  left join newest
    on newest.account = resources.account
    and newest.workspace = resources.workspace
    and newest.resource_type = resources.resource_type
    and newest.resource_name = resources.resource_name
  left join warm
    on warm.account = resources.account
    and warm.workspace = resources.workspace
    and warm.resource_type = resources.resource_type
    and warm.resource_name = resources.resource_name
  left join workloads_known
    on workloads_known.account = resources.account and workloads_known.workspace = resources.workspace
  left join detached
    on detached.account = resources.account
    and detached.workspace = resources.workspace
    and detached.resource_name = resources.resource_name
    and detached.since <= resources.known_until - to_days($days)
    and resources.resource_type = 'volume'
  anti join mounted
    on mounted.account = resources.account
    and mounted.workspace is not distinct from resources.workspace
    and mounted.resource_name = resources.resource_name
    and resources.resource_type = 'volume'
  where resources.cost_of_last_day > 0
    and ($workspace is null or resources.workspace = $workspace)
    and (
      resources.resource_type is distinct from 'volume' or workloads_known.account is not null or detached.account is not null
    )
),
unused as (
  select
    signals.account,
    case
      when is_by_usage and not has_usage then 'storage only'
      when is_by_usage and last_used_end is null then 'never used'
      when is_by_usage then 'used before'
      when is_by_state then 'off'
      when is_by_last_use then 'runs unused'
      else 'warm only'
    end as state,
    signals.workspace,
    signals.resource_type,
    signals.resource_name,
    signals.resource_uuid,
    signals.known_until,
    signals.storage_start,
    case
      when is_by_usage and has_usage then greatest(coalesce(last_used_end, storage_start), last_used_at)
      when is_by_usage then last_used_at
      when is_by_state then off_since
      when is_by_last_use then last_used_at
    end as unused_since,
    cast(coalesce(storage_cost_of_last_day, 0) as decimal(38, 12)) as storage_cost_of_last_day,
    cast(cost_of_last_day as decimal(38, 12)) as cost_of_last_day,
    concat_ws(
      ', ',
      case when is_by_usage and not is_unmounted then 'usage' end,
      case when is_by_usage and is_unmounted then 'mounts' end,
      case when is_by_state then 'state' end,
      case when is_by_last_use then 'last use' end,
      case when is_by_warm then 'warm' end
    ) as idle_by,
    concat_ws(
      '; ',
      case
        when is_by_usage and is_unmounted then 'no resource mounts it'
        when is_by_usage and not has_usage then 'only its storage is billed'
        when is_by_usage and last_used_end is null then 'no usage since its storage started'
        when is_by_usage then 'no usage since ' || strftime(last_used_end, '%Y-%m-%d')
      end,
      case
        when is_by_state and is_enabled = false then 'not enabled since ' || strftime(off_since, '%Y-%m-%d')
        when is_by_state then status || ' since ' || strftime(off_since, '%Y-%m-%d')
      end,
      case when is_by_last_use then 'last used ' || strftime(last_used_at, '%Y-%m-%d') end,
      case
        when is_by_warm
          then min_scale || ' warm instance' || case when min_scale = 1 then '' else 's' end
            || ', and the same usage every hour for ' || cast($days as integer) || ' days'
      end
    ) as reason,
    signals.status,
    signals.runtime_state,
    signals.last_used_at,
    signals.min_scale,
    signals.expires_at,
    signals.time_to_live,
    signals.expiration_policies
  from signals
  where is_by_usage or is_by_state or is_by_last_use or is_by_warm
),
-- What nobody runs or restores any more. Its cost is part of other costs, so only its size and age are known.
known as (select account, max(known_until) as known_until from named group by account),
held as (
  select images.account, 'unused image' as state, images.workspace, 'image' as resource_type, images.resource_name,
    images.created_at, resource_use.last_used_at, images.size_bytes,
    'last deployed ' || strftime(resource_use.last_used_at, '%Y-%m-%d') || '; nothing runs it' as reason
  from listed_states as images
  join ledger.resource_use as resource_use
    on resource_use.account = images.account
    and resource_use.workspace = images.workspace
    and resource_use.resource_type = 'image'
    and resource_use.resource_name = images.resource_name
  where images.resource_type = 'image' and images.valid_to is null
    and (images.account, images.workspace) in (from workloads_known)
    and not exists (
      from listed_states as workloads
      left join (
        select account, workspace, resource_type, resource_name, image from ledger.resource_runtimes
      ) as runtimes
        on runtimes.account = workloads.account
        and runtimes.resource_type = workloads.resource_type
        and runtimes.workspace = workloads.workspace
        and runtimes.resource_name = workloads.resource_name
      where workloads.account = images.account
        and workloads.workspace = images.workspace
        and workloads.resource_type in ('agent', 'job', 'mcp_server', 'sandbox')
        and workloads.valid_to is null
        and workloads.status is distinct from 'TERMINATED'
        and split_part(images.resource_name, '/', 2)
          in (workloads.resource_name, split_part(split_part(split_part(runtimes.image, '/', -1), ':', 1), '@', 1))
    )
  union all
  select account, 'old snapshots', workspace, 'snapshot', attached_to, min(created_at), max(created_at), null,
    count(*) || ' snapshot' || case when count(*) = 1 then '' else 's' end || ' of a sandbox that is gone'
  from listed_states as snapshots
  where resource_type = 'snapshot' and valid_to is null
    and (account, workspace) in (from workloads_known)
    and not exists (
      from listed_states as sandboxes
      where sandboxes.account = snapshots.account
        and sandboxes.workspace = snapshots.workspace
        and sandboxes.resource_type = 'sandbox'
        and sandboxes.resource_name = snapshots.attached_to
        and sandboxes.valid_to is null
    )
  group by account, workspace, attached_to
),
found as (
  select
    *,
    -- 730/24 of a day in whole trillionths of a dollar, because a quotient of decimals would be a DOUBLE.
    cast(
      cast((cast(cost_of_last_day * 1000000000000 as hugeint) * 365 + 6) // 12 as decimal(38, 0)) * 0.000000000001
      as decimal(38, 12)
    ) as cost_per_month,
    cast(null as bigint) as size_bytes
  from unused
  union all by name
  select
    held.account, held.state, held.workspace, held.resource_type, held.resource_name, known.known_until,
    held.created_at as storage_start, held.last_used_at as unused_since, held.last_used_at, held.size_bytes,
    'listing' as idle_by, held.reason
  from held
  join known using (account)
  where held.last_used_at <= known.known_until - to_days($days)
    and ($workspace is null or held.workspace = $workspace)
),
