--! about: Changes of memory, generation, region, image, revision and scale of each resource. A change happened between
--! about: two listings: after changed_after, and by changed_by.
--! grain: account, workspace, resource_type, resource_name, changed_by, setting
create or replace view resource_changes as
with
stepped as (
  select
    account, workspace, resource_type, resource_name, run_number, recorded_at, valid_from as changed_by,
    -- A resource that was gone in between did not change: it is another one, or nobody knows since when.
    lag(valid_to) over states is not distinct from valid_from as is_change,
    [
      {'setting': 'memory_mb', 'old': cast(lag(memory_mb) over states as varchar), 'new': cast(memory_mb as varchar)},
      {'setting': 'generation', 'old': lag(generation) over states, 'new': generation},
      {'setting': 'region', 'old': lag(region) over states, 'new': region}
    ] as settings
  from ledger.resources
  window states as (
    partition by account, workspace, resource_type, resource_name, resource_uuid, created_at order by valid_from
  )
  union all
  select
    account, workspace, resource_type, resource_name, run_number, recorded_at, changed_by,
    lag(recorded_at) over runtimes is not null,
    [
      {'setting': 'image', 'old': lag(image) over runtimes, 'new': image},
      {'setting': 'revision', 'old': lag(revision) over runtimes, 'new': revision},
      {'setting': 'min_scale', 'old': cast(lag(min_scale) over runtimes as varchar), 'new': cast(min_scale as varchar)},
      {'setting': 'max_scale', 'old': cast(lag(max_scale) over runtimes as varchar), 'new': cast(max_scale as varchar)}
    ]
  from ledger.resource_runtimes
  window runtimes as (
    partition by account, workspace, resource_type, resource_name, created_at order by recorded_at
  )
),
changed as (
  select
    account, workspace, resource_type, resource_name, run_number, recorded_at, changed_by,
    setting.setting as setting, setting.old as old, setting.new as new
  from (select *, unnest(settings) as setting from stepped where is_change)
  where setting.old is distinct from setting.new
),
-- A workspace with a token of its own has listings of its own.
own_tokens as (
  select distinct account, token_workspace as workspace
  from ledger.listings
  where token_workspace is not null
),
readings as (
  select account, resource_type, coalesce(token_workspace, '') as reader, run_number, max(read_at) as read_at
  from ledger.listings
  where outcome in ('read', 'shrunk')
  group by all
)
select
  changed.account,
  changed.workspace, --: Workspace that contains the resource
  changed.resource_type, --: Resource type, as costs name it
  changed.resource_name,
  changed.setting, --: memory_mb, generation, region, image, revision, min_scale or max_scale
  changed.old as old_value, --: Value before the change; null if the resource had none
  changed.new as new_value, --: Value after the change; null if the resource has none
  readings.read_at as changed_after, --: When the listing still had the old value, UTC; null if not known
  changed.changed_by, --: When the change had happened at the latest, UTC: the platform's own time of the update, or else of the listing with the new value
  changed.recorded_at --: When Costbook saw the change, UTC
from changed
left join own_tokens on own_tokens.account = changed.account and own_tokens.workspace = changed.workspace
asof left join readings
  on readings.account = changed.account
  and readings.resource_type = changed.resource_type
  and readings.reader = coalesce(own_tokens.workspace, '')
  and readings.run_number < changed.run_number;
