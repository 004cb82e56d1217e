--! about: The workspaces of an account that have listed resources and no costs since an instant ($since), and the types of
--! about: these. A workspace that costs something is there, whatever the platform names.
select workspace, resource_type
from ledger.resources
where account = $account
  and valid_to is null
  and workspace not in (
    select series.workspace
    from ledger.hourly_costs as hourly_costs
    join ledger.series as series using (series_id)
    where series.account = $account
      and series.workspace is not null
      and hourly_costs.bucket_start >= cast($since as timestamp)
  )
group by workspace, resource_type
order by workspace, resource_type;
