--! about: Who owns the costs of a resource, by time and rule, newest first; a bound that is null is open.
select
  owners.rule,
  owners.owner,
  owners.is_split,
  case when isfinite(owners.from_time) then strftime(owners.from_time, '%Y-%m-%d') end as from_day,
  case when isfinite(owners.to_time) then strftime(owners.to_time, '%Y-%m-%d') end as to_day,
  count(*) as series
from memory.main.owners as owners
join visible_series as series using (series_id)
where coalesce(series.resource_type, '') = $type
  and coalesce(series.workspace, '') = $workspace
  and coalesce(series.resource_name, '') = $name
group by all
order by to_day desc nulls first, from_day desc nulls last, owners.rule
limit 50;
