--! about: The resources whose names contain $part, in any case: what each cost from $from to $to, the largest first, and how many
--! about: there are.
with
--! include: visible_costs
matches as (
  select *
  from visible_series
  where contains(lower(resource_name), lower($part))
),
spent as (
  select series_id, sum(cost) as cost
  from visible_costs
  where series_id in (select series_id from matches)
  group by series_id
)
select
  matches.workspace,
  matches.resource_type,
  matches.resource_name,
  cast(coalesce(sum(spent.cost), 0) as decimal(38, 12)) as cost,
  count(*) over () as resources
from matches
left join spent using (series_id)
group by matches.workspace, matches.resource_type, matches.resource_name
order by cost desc, matches.resource_name, matches.workspace, matches.resource_type
limit 50;
