--! about: What each volume cost in a month ($month), by the rule and owner that it had, with the resources that mounted it then.
with costs as (
  select
    series.account,
    series.workspace,
    series.resource_name,
    owners.rule,
    owners.owner,
    owners.is_split,
    owners.is_mounted,
    any_value(owners.series_id) as series_id,
    greatest(min(owners.from_time), cast($month as timestamp)) as from_time,
    least(max(owners.to_time), cast($month as timestamp) + interval 1 month) as to_time,
    sum(day_costs.cost) as cost
  from memory.main.day_costs as day_costs
  join memory.main.owners as owners using (series_id, from_time)
  join ledger.series as series using (series_id)
  where series.resource_type = 'volume'
    and day_costs.day >= cast($month as timestamp)
    and day_costs.day < cast($month as timestamp) + interval 1 month
  group by
    series.account, series.workspace, series.resource_name, owners.rule, owners.owner, owners.is_split,
    owners.is_mounted
),
named as (
  select distinct
    costs.series_id, costs.from_time, costs.to_time, mounts.resource_type || ' ' || mounts.resource_name as mounter
  from costs
  join memory.main.mounts as mounts
    on mounts.series_id = costs.series_id
    and mounts.from_time < costs.to_time
    and mounts.to_time > costs.from_time
),
mounters as (
  select series_id, from_time, to_time, string_agg(mounter, ', ' order by mounter) as mounters
  from named
  group by series_id, from_time, to_time
)
select
  costs.workspace,
  costs.resource_name,
  costs.rule,
  costs.owner,
  costs.is_split,
  costs.is_mounted,
  cast(costs.cost as decimal(38, 12)) as cost,
  mounters.mounters
from costs
left join mounters using (series_id, from_time, to_time)
order by costs.cost desc, costs.workspace, costs.resource_name, costs.rule
limit 50;
