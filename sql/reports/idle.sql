--! about: Which resources that nobody uses still cost money, why they count as idle, and how much a month?
--! grain: account, state, workspace, resource_type, resource_name, resource_uuid
--! params: until date = complete-through, days integer = 14, account text = *, workspace text = *
--! formats: csv, parquet
--! top: cost_per_month
--! important: resource_name, cost_per_month, idle_by, reason, workspace, resource_type, unused_days, account
-- A month is 730 hours at the rate of the last 24 complete hours. idle_by names what says so: usage (storage without any
-- use), state (it does not serve), last use (the platform's own time), warm (its warm instances do all the work),
-- mounts (no resource mounts the volume). command shows the resource, or deletes a model; people run it, Costbook never does.
-- unused_since is null if only storage is billed and nothing else shows a use. The platform's values are the newest ones.
with books as (
  -- An incomplete hour may still get usage.
  select series.series_id, least(accounts.complete_through, cast($until as timestamp)) as known_until
  from series
  join accounts using (account)
  where accounts.complete_through is not null
    and ($account is null or accounts.account = $account)
),
-- Up to a day before the earliest end of any account's books, the account of an hour does not matter. Joining every hour
-- with its account would take three times as long.
common as (
  select min(known_until) - interval 24 hour as common_end
  from books
),
lives as (
  select
    series_id,
    max(known_until) as known_until,
    min(first_bucket) as first_bucket,
    max(last_used_bucket) as last_used_bucket,
    sum(cost_of_last_day) as cost_of_last_day
  from (
    select
      hourly_costs.series_id,
      null as known_until,
      min(hourly_costs.bucket_start) as first_bucket,
      max(hourly_costs.bucket_start) filter (where hourly_costs.usage > 0) as last_used_bucket,
      null as cost_of_last_day
    from hourly_costs
    cross join common
    where hourly_costs.bucket_start < cast($until as timestamp)
      and hourly_costs.bucket_start < common.common_end
    group by hourly_costs.series_id
    union all
    select
      hourly_costs.series_id,
      null,
      min(hourly_costs.bucket_start),
      max(hourly_costs.bucket_start) filter (where hourly_costs.usage > 0),
      sum(hourly_costs.cost) filter (where hourly_costs.bucket_start >= books.known_until - interval 24 hour)
    from hourly_costs
    cross join common
    join books on books.series_id = hourly_costs.series_id
    where hourly_costs.bucket_start < cast($until as timestamp)
      and hourly_costs.bucket_start >= common.common_end
      and hourly_costs.bucket_start < books.known_until
    group by hourly_costs.series_id
    union all
    select series_id, known_until, null, null, null
    from books
  ) as parts
  group by series_id
  having min(first_bucket) is not null and max(known_until) is not null
),
named as (
  select
    series.series_id,
    series.account,
    series.workspace,
    series.resource_type,
    series.resource_name,
    series.resource_uuid,
    coalesce(contains(series.billing_dimension, 'storage'), false) as is_storage,
    lives.known_until,
    lives.first_bucket,
    lives.last_used_bucket,
    lives.cost_of_last_day
  from lives
  join series using (series_id)
),
used_types as (
  select distinct account, resource_type
  from named
  where not is_storage
),
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
  from ledger.resources
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
-- Volumes that a resource mounts are in use. If no state has mounts, nothing is known about any volume.
mounted as (
  select distinct series.account, series.workspace, series.resource_name
  from ledger.volume_mounts as mounts
  join named using (series_id)
  join ledger.series as series using (series_id)
  where mounts.from_time < named.known_until and mounts.to_time >= named.known_until
),
mounts_known as (select distinct account from ledger.resources where volumes is not null),
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
    resources.resource_type = 'volume' and mounts_known.account is not null as is_unmounted,
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
  left join mounts_known on mounts_known.account = resources.account
  anti join mounted
    on mounted.account = resources.account
    and mounted.workspace is not distinct from resources.workspace
    and mounted.resource_name = resources.resource_name
    and resources.resource_type = 'volume'
  where resources.cost_of_last_day > 0
    and ($workspace is null or resources.workspace = $workspace)
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
storage as (
  select
    named.series_id,
    unused.account,
    unused.workspace,
    unused.resource_type,
    unused.resource_name,
    unused.resource_uuid,
    unused.unused_since,
    unused.known_until
  from unused
  join named
    on named.account = unused.account
    and named.workspace is not distinct from unused.workspace
    and named.resource_type is not distinct from unused.resource_type
    and named.resource_name is not distinct from unused.resource_name
    and named.resource_uuid is not distinct from unused.resource_uuid
  where named.is_storage
),
spent_by_series as (
  select hourly_costs.series_id, sum(hourly_costs.cost) as cost
  from hourly_costs
  join storage using (series_id)
  where hourly_costs.bucket_start >= storage.unused_since
    and hourly_costs.bucket_start < storage.known_until
  group by hourly_costs.series_id
),
spent as (
  select
    storage.account,
    storage.workspace,
    storage.resource_type,
    storage.resource_name,
    storage.resource_uuid,
    sum(spent_by_series.cost) as cost
  from spent_by_series
  join storage using (series_id)
  group by storage.account, storage.workspace, storage.resource_type, storage.resource_name, storage.resource_uuid
)
select
  unused.account,
  unused.state,
  unused.workspace,
  unused.resource_type,
  unused.resource_name,
  unused.resource_uuid,
  unused.storage_start,
  unused.unused_since,
  cast(date_diff('hour', unused.unused_since, unused.known_until) // 24 as integer) as unused_days,
  cast(spent.cost as decimal(38, 12)) as storage_cost_since,
  -- 730/24 of a day in whole trillionths of a dollar, because a quotient of decimals would be a DOUBLE.
  cast(
    cast(
      (cast(unused.storage_cost_of_last_day * 1000000000000 as hugeint) * 365 + 6) // 12 as decimal(38, 0)
    ) * 0.000000000001 as decimal(38, 12)
  ) as storage_cost_per_month,
  unused.known_until,
  unused.idle_by,
  unused.reason,
  cast(
    cast(
      (cast(unused.cost_of_last_day * 1000000000000 as hugeint) * 365 + 6) // 12 as decimal(38, 0)
    ) * 0.000000000001 as decimal(38, 12)
  ) as cost_per_month,
  unused.status,
  unused.runtime_state,
  unused.last_used_at,
  unused.min_scale,
  unused.expires_at,
  unused.time_to_live,
  unused.expiration_policies,
  -- The interface has no operation that stops or deletes anything but a model.
  case
    when unused.resource_type = 'model'
      then 'costbook platform delete-model --account ' || quoted.account || ' --model-name=' || quoted.name
    when operations.operation is not null
      then 'costbook platform ' || operations.operation || ' --account ' || quoted.account || ' --q=' || quoted.name
        || case when operations.operation = 'sandboxes' then ' --show-terminated true' else '' end || ' --all'
  end as command
from unused
left join (
  values ('sandbox', 'sandboxes'), ('agent', 'agents'), ('mcp_server', 'functions'), ('job', 'jobs')
) as operations (resource_type, operation)
  on operations.resource_type = unused.resource_type
-- As words of a shell.
cross join lateral (
  select
    case when regexp_full_match(unused.account, '[A-Za-z0-9][A-Za-z0-9._-]*') then unused.account
      else '''' || replace(unused.account, '''', '''\''''') || '''' end as account,
    case when regexp_full_match(unused.resource_name, '[A-Za-z0-9._-]+') then unused.resource_name
      else '''' || replace(unused.resource_name, '''', '''\''''') || '''' end as name
) as quoted
left join spent
  on spent.account = unused.account
  and spent.workspace is not distinct from unused.workspace
  and spent.resource_type is not distinct from unused.resource_type
  and spent.resource_name is not distinct from unused.resource_name
  and spent.resource_uuid is not distinct from unused.resource_uuid
