--! about: What could be stopped and what each costs a month, with its owner at the end of the known days: what nobody uses, by the
--! about: rule of the report idle, and $runaways, a JSON list of resources that cost more than usual. A resource counts once.
--! about: Listings are of all costs: with $is_owner they count for nothing, and $workspaces (a JSON list) limits them.
with own as (
  select
    series.*,
    coalesce(contains(series.billing_dimension, 'storage'), false) as is_storage,
    least(date_trunc('day', accounts.complete_through), cast($until as timestamp)) as known_until
  from visible_series as series
  join accounts using (account)
  where accounts.complete_through is not null and accounts.ended_at is null
),
--! include: use_by_days
listed_states as (
  select *
  from ledger.resources
  where not $is_owner and ($workspaces is null or list_contains(from_json($workspaces, '["VARCHAR"]'), workspace))
),
--! include: idle_resources
runaways as (
  select unnest(
    from_json($runaways, '[{"account": "VARCHAR", "workspace": "VARCHAR", "resource_type": "VARCHAR", "resource_name": "VARCHAR", "first_day": "VARCHAR", "anomaly_key": "VARCHAR", "cost_per_month": "DECIMAL(38, 12)"}]'),
    recursive := true
  )
),
could_stop as (
  select account, state, workspace, resource_type, resource_name, resource_uuid, reason, cost_per_month, size_bytes
  from found
  union all by name
  select runaways.account, 'runaway' as state, runaways.workspace, runaways.resource_type, runaways.resource_name,
    'above its usual cost since ' || min(runaways.first_day) as reason,
    arg_max(runaways.anomaly_key, runaways.cost_per_month) as anomaly_key,
    cast(sum(runaways.cost_per_month) as decimal(38, 12)) as cost_per_month
  from runaways
  -- Where no resource is the cause, it may be any of its type and workspace.
  anti join unused
    on unused.account = runaways.account
    and unused.workspace is not distinct from runaways.workspace
    and unused.resource_type is not distinct from runaways.resource_type
    and (unused.resource_name is not distinct from runaways.resource_name or runaways.resource_name is null)
  semi join visible_series as series
    on series.account = runaways.account
    and series.workspace is not distinct from runaways.workspace
    and series.resource_type is not distinct from runaways.resource_type
  group by all
),
owners as (
  select named.account, named.workspace, named.resource_type, named.resource_name,
    arg_max(ownership.owner, named.cost_of_last_day) as owner,
    bool_or(ownership.is_split) as is_split
  from named
  join visible_ownership as ownership
    on ownership.series_id = named.series_id
    and ownership.from_time < named.known_until
    and ownership.to_time >= named.known_until
  group by named.account, named.workspace, named.resource_type, named.resource_name
)
select
  could_stop.account,
  could_stop.state,
  could_stop.workspace,
  could_stop.resource_type,
  could_stop.resource_name,
  could_stop.reason,
  could_stop.cost_per_month,
  could_stop.size_bytes,
  could_stop.anomaly_key,
  owners.owner,
  owners.is_split
from could_stop
left join owners
  on owners.account = could_stop.account
  and owners.workspace is not distinct from could_stop.workspace
  and owners.resource_type is not distinct from could_stop.resource_type
  and owners.resource_name is not distinct from could_stop.resource_name
order by could_stop.cost_per_month desc nulls last, could_stop.account, could_stop.workspace, could_stop.resource_type,
  could_stop.resource_name, could_stop.resource_uuid;
