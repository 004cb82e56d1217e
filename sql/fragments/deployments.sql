--! about: Events and changes of resources in one list. An event happened at one instant; a change happened after one and
--! about: by another. settings: JSON list of the changed settings of that moment.
deployments as (
  select
    account, workspace, resource_type, resource_name,
    event_time as happened_after, event_time as happened_by, true as is_event,
    event_type, status, message, revision, cast(null as varchar) as settings
  from resource_events
  union all
  select
    account, workspace, resource_type, resource_name,
    coalesce(changed_after, changed_by), changed_by, false,
    null, null, null, max(new_value) filter (setting = 'revision'),
    cast(to_json(list({'name': setting, 'from': old_value, 'to': new_value} order by setting)) as varchar)
  from resource_changes
  group by account, workspace, resource_type, resource_name, changed_after, changed_by
),
