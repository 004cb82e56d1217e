--! about: The end of a query: the values that rules test, by series, time and field, as the view allocation_facts. From the
--! about: CTE rules (rule_number, conditions, owner, aliases).
named as (
  select unnest(list_transform(conditions, lambda condition : condition.field)) as field
  from rules
  union
  select unnest(list_transform(list_filter(owner, lambda entry : entry.label is not null), lambda entry : 'label:' || entry.label))
  from rules
),
aliases as (
  select unnest(aliases, recursive := true)
  from rules
  where rule_number = 1
),
states as materialized (
  select
    series_id, 0 as mounter, from_time, account, workspace, resource_type, resource_name, resource_uuid,
    billing_dimension, labels, external_id, display_name, region, created_by, integration_connections, provider
  from ledger.series_states
  union all
  select
    series_id, mounter, from_time, account, workspace, resource_type, resource_name, resource_uuid, billing_dimension,
    labels, external_id, display_name, region, created_by, integration_connections, provider
  from ledger.volume_mounts
),
-- What the last listing says of workspaces, people and connections.
listed as (
  select account, resource_type, workspace, resource_name, labels, display_name, provider
  from ledger.resources
  where resource_type in ('workspace', 'user', 'service_account', 'connection')
  qualify row_number() over (
    partition by account, resource_type, workspace, resource_name order by valid_from desc, recorded_at desc
  ) = 1
),
workspaces as (
  select account, workspace, labels from listed where resource_type = 'workspace' and labels is not null
),
people as (
  select account, resource_name as id, min(display_name) as name
  from listed
  where resource_type in ('user', 'service_account') and display_name is not null
  group by account, resource_name
),
-- Fields that may have several values: who created a resource, by ID and by name, and the providers behind it.
several as (
  select series_id, mounter, from_time, 'created_by' as field, created_by as value
  from states
  where created_by is not null
  union
  select states.series_id, states.mounter, states.from_time, 'created_by', people.name
  from states
  join people on people.account = states.account and people.id = states.created_by
  union
  select series_id, mounter, from_time, 'provider', provider
  from states
  where provider is not null
  union
  select used.series_id, used.mounter, used.from_time, 'provider', listed.provider
  from (
    select
      series_id, mounter, from_time, account, workspace,
      unnest(cast(from_json(integration_connections, '["VARCHAR"]') as varchar[])) as connection
    from states
  ) as used
  join listed
    on listed.resource_type = 'connection'
    and listed.account = used.account
    and listed.workspace = used.workspace
    and listed.resource_name = used.connection
  where listed.provider is not null
),
-- Few label texts differ: each one is parsed once.
written as (
  select
    texts.labels,
    named.field,
    json_extract_string(
      texts.labels,
      -- What follows label: or workspace_label: is the key.
      '/' || replace(
        replace(substring(named.field, case when starts_with(named.field, 'label:') then 7 else 17 end), '~', '~0'), '/', '~1'
      )
    ) as value
  from (select labels from states where labels is not null union select labels from workspaces) as texts
  cross join named
  where starts_with(named.field, 'label:') or starts_with(named.field, 'workspace_label:')
),
spelt as (
  select written.labels, written.field, coalesce(aliases.value, written.value) as value
  from written
  left join aliases on 'label:' || aliases.label = written.field and aliases.alias = written.value
)
select
  states.series_id,
  states.mounter,
  states.from_time,
  named.field,
  case named.field
    when 'account' then states.account
    when 'workspace' then states.workspace
    when 'resource_type' then states.resource_type
    when 'resource_name' then states.resource_name
    when 'resource_uuid' then states.resource_uuid
    when 'billing_dimension' then states.billing_dimension
    when 'external_id' then states.external_id
    when 'display_name' then states.display_name
    when 'region' then states.region
    when 'created_by' then several.value
    when 'provider' then several.value
    else spelt.value
  end as value
from states
cross join named
left join several
  on several.field = named.field
  and several.series_id = states.series_id
  and several.mounter = states.mounter
  and several.from_time = states.from_time
left join workspaces
  on starts_with(named.field, 'workspace_label:')
  and workspaces.account = states.account
  and workspaces.workspace = states.workspace
left join spelt
  on spelt.labels = case when starts_with(named.field, 'workspace_label:') then workspaces.labels else states.labels end
  and spelt.field = named.field
