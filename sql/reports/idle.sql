--! about: Which resources that nobody uses still cost money, why they count as idle, and how much a month?
--! for: teams
--! grain: account, state, workspace, resource_type, resource_name, resource_uuid
--! params: until date = complete-through, days integer = 14, account text = *, workspace text = *
--! top: cost_per_month
--! important: resource_name, cost_per_month, idle_by, reason, workspace, resource_type, unused_days, account
-- A month is 730 hours at the rate of the last 24 complete hours. idle_by names what says so: usage (storage without any
-- use), state (it does not serve), last use (the platform's own time), warm (its warm instances do all the work),
-- mounts (no resource mounts the volume, or it is attached to nothing), listing (an image that nothing runs, and snapshots of
-- a sandbox that is gone: their cost is part of other costs, so they have a size in bytes, if it is known, and an age). command shows the resource, or deletes a model; people run it, Costbook never does.
-- unused_since is null if only storage is billed and nothing else shows a use. The platform's values are the newest ones.
with books as (
  -- An incomplete hour may still get usage.
  select series.series_id, least(accounts.complete_through, cast($until as timestamp)) as known_until
  from series
  join accounts using (account)
  where accounts.complete_through is not null and accounts.ended_at is null
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
listed_states as (
  select * from ledger.resources
),
--! include: idle_resources
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
  cast(
    cast(
      (cast(unused.storage_cost_of_last_day * 1000000000000 as hugeint) * 365 + 6) // 12 as decimal(38, 0)
    ) * 0.000000000001 as decimal(38, 12)
  ) as storage_cost_per_month,
  unused.known_until,
  unused.idle_by,
  unused.reason,
  unused.cost_per_month,
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
  end as command,
  unused.size_bytes
from found as unused
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
