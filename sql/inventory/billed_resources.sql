--! about: The resources that were billed for a dimension from an instant to another one, the dearest first, each with the memory
--! about: that its last state of that time had.
with billed as (
  select series.workspace, series.resource_type, series.resource_name, sum(hourly_costs.cost) as cost
  from ledger.hourly_costs as hourly_costs
  join ledger.series as series using (series_id)
  where series.account = $account
    and series.billing_dimension = $billing_dimension
    and series.resource_name is not null
    and (
      $workspaces is null
      or list_contains(cast(from_json($workspaces, '["VARCHAR"]') as varchar[]), series.workspace)
    )
    and hourly_costs.bucket_start >= cast($from as timestamp)
    and hourly_costs.bucket_start < cast($to as timestamp)
  group by series.workspace, series.resource_type, series.resource_name
)
select billed.workspace, billed.resource_name, arg_max(states.memory_mb, states.valid_from) as memory_mb
from billed
left join ledger.resources as states
  on states.account = $account
  and states.resource_type = billed.resource_type
  and states.workspace = billed.workspace
  and states.resource_name = billed.resource_name
  and states.valid_from < cast($to as timestamp)
where billed.workspace is not null
group by billed.workspace, billed.resource_name, billed.cost
order by billed.cost desc, billed.workspace, billed.resource_name
