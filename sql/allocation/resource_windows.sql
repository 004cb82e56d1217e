--! about: The owner of a resource's costs, by series and time, with the facts and conditions that decided it.
with wanted as (
  select distinct series_id
  from ledger.series_states
  where resource_name = $resource or resource_uuid = $resource or display_name = $resource or external_id = $resource
),
choices as materialized (
  select choices.*
  from ledger.allocation_choices as choices
  semi join wanted using (series_id)
)
select
  states.series_id, states.account, states.workspace, states.resource_type, states.resource_name,
  states.resource_uuid, states.billing_dimension, states.labels,
  strftime(states.from_time, '%Y-%m-%dT%H:%M:%SZ') as state_from,
  cast(owners.from_time as varchar) as from_key,
  case when isfinite(owners.from_time) then strftime(owners.from_time, '%Y-%m-%dT%H:%M:%SZ') end as from_time,
  case when isfinite(owners.to_time) then strftime(owners.to_time, '%Y-%m-%dT%H:%M:%SZ') end as to_time,
  own.rule_number, owners.rule, owners.is_split, owners.owner, owners.is_mounted,
  -- Who mounts a volume at the end of the window: the owners are the same throughout, the mounters may change.
  (
    select to_json(list(
      {
        'resourceType': mounts.resource_type, 'resourceName': mounts.resource_name, 'labels': mounts.labels,
        'rule': choices.rule, 'isShared': choices.is_split, 'owner': choices.owner
      }
      order by mounts.resource_type, mounts.resource_name
    ))
    from choices
    join ledger.volume_mounts as mounts
      on mounts.series_id = choices.series_id and mounts.mounter = choices.mounter
    where owners.is_mounted
      and choices.series_id = owners.series_id
      and choices.from_time < owners.to_time
      and choices.to_time >= owners.to_time
  ) as mounters,
  cast(coalesce((
    select sum(cost)
    from ledger.hourly_costs as hourly_costs
    where hourly_costs.series_id = states.series_id
      and hourly_costs.bucket_start >= owners.from_time and hourly_costs.bucket_start < owners.to_time
  ), 0) as decimal(38, 12)) as cost,
  (
    select json_group_object(facts.field, facts.value)
    from ledger.allocation_facts as facts
    where facts.series_id = states.series_id and facts.mounter = 0 and facts.from_time = states.from_time
  ) as facts,
  (
    select to_json(list([hits.rule_number, hits.condition_number]))
    from ledger.allocation_conditions_met as hits
    where hits.series_id = states.series_id and hits.mounter = 0 and hits.from_time = states.from_time
  ) as hits
from wanted
join ledger.series_states as states using (series_id)
join ledger.allocation_owners as owners
  on owners.series_id = states.series_id
  and owners.from_time >= states.from_time and owners.from_time < states.to_time
join choices as own
  on own.series_id = owners.series_id
  and own.mounter = 0
  and own.from_time <= owners.from_time
  and own.to_time > owners.from_time
-- Time before the first cost, such as before its creation, needs no explanation.
where owners.to_time > coalesce(
  (select min(bucket_start) from ledger.hourly_costs as hourly_costs where hourly_costs.series_id = states.series_id),
  cast('-infinity' as timestamp)
)
order by
  states.account, states.workspace, states.resource_type, states.resource_name, states.resource_uuid,
  owners.from_time, states.billing_dimension
limit $max_windows;
