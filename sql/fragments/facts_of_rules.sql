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
    billing_dimension, labels, external_id, display_name, region
  from ledger.series_states
  union all
  select
    series_id, mounter, from_time, account, workspace, resource_type, resource_name, resource_uuid, billing_dimension,
    labels, external_id, display_name, region
  from ledger.volume_mounts
),
-- Few label texts differ: each one is parsed once.
written as (
  select
    texts.labels,
    named.field,
    json_extract_string(texts.labels, '/' || replace(replace(named.field[7:], '~', '~0'), '/', '~1')) as value
  from (select distinct labels from states where labels is not null) as texts
  cross join named
  where starts_with(named.field, 'label:')
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
    else spelt.value
  end as value
from states
cross join named
left join spelt on spelt.labels = states.labels and spelt.field = named.field
