--! about: The CTE unlisted_workspaces: workspaces none of whose resources a listing ever showed, with their costs of the last
--! about: 30 days. A token without access to workspaces sees costs without one: then what no listing ever showed counts
--! about: together, with the workspace null, if it is a tenth of the costs. Only accounts whose listings were read once and
--! about: asked for within two weeks (a refused one is asked for each week), and types that a listing has.
listed_types(resource_type) as (values ('sandbox'), ('agent'), ('mcp_server'), ('job'), ('model')),
asked_for as (
  select account, max(read_at) as asked_at
  from listings
  where resource_type in (from listed_types)
  group by account
  having bool_or(outcome = 'read')
),
recent as (
  select series.account, series.workspace, series.resource_type, series.resource_name, sum(hourly_costs.cost) as cost
  from ledger.hourly_costs as hourly_costs
  join ledger.series as series using (series_id)
  join accounts on accounts.account = series.account
  join asked_for on asked_for.account = series.account
  where series.resource_type in (from listed_types)
    and hourly_costs.bucket_start >= accounts.complete_through - interval 30 days
    and hourly_costs.bucket_start < accounts.complete_through
    and asked_at > accounts.complete_through - interval 14 days
  group by series.account, series.workspace, series.resource_type, series.resource_name
),
judged as (
  select
    *,
    not exists (
      from ledger.resources as resources
      where resources.account = recent.account
        and resources.resource_type in (from listed_types)
        and case
          when recent.workspace is null
            then resources.resource_type = recent.resource_type and resources.resource_name = recent.resource_name
          else resources.workspace = recent.workspace
        end
    ) as is_unlisted
  from recent
),
unlisted_workspaces as (
  select account, workspace, sum(cost) filter (where is_unlisted) as cost
  from judged
  group by account, workspace
  having sum(cost) filter (where is_unlisted) >= case when workspace is null then 0.1 else 1 end * sum(cost)
    and sum(cost) filter (where is_unlisted) > 0
)
