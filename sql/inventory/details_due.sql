--! about: The items of a listing that have to be read one by one: those that are new or were updated since they were read in
--! about: full. The dearest of the last 30 days first, then the oldest.
with spent as (
  select series.workspace, series.resource_name, sum(hourly_costs.cost) as cost
  from ledger.hourly_costs as hourly_costs
  join ledger.series as series using (series_id)
  where series.account = $account
    and series.resource_type = $resource_type
    and hourly_costs.bucket_start >= cast($now as timestamp) - interval 30 days
  group by series.workspace, series.resource_name
)
select
  staged.workspace,
  staged.resource_name,
  staged.resource_uuid,
  strftime(staged.created_at, '%Y-%m-%dT%H:%M:%S.%gZ') as created_at,
  strftime(coalesce(staged.updated_at, timestamp '1970-01-01'), '%Y-%m-%dT%H:%M:%S.%gZ') as updated_at,
  staged.size_bytes
from staged_resources as staged
left join ledger.resource_use as stored
  on stored.account = $account
  and stored.resource_type = $resource_type
  and stored.workspace = staged.workspace
  and stored.resource_name = staged.resource_name
  and stored.resource_uuid is not distinct from staged.resource_uuid
  and stored.created_at is not distinct from staged.created_at
left join spent on spent.workspace = staged.workspace and spent.resource_name = staged.resource_name
where stored.details_of is distinct from coalesce(staged.updated_at, timestamp '1970-01-01')
qualify row_number() over (
  partition by staged.workspace, staged.resource_name, staged.resource_uuid, staged.created_at order by staged.arrival desc
) = 1
order by spent.cost desc nulls last, staged.created_at nulls last, staged.workspace, staged.resource_name
limit $most;
