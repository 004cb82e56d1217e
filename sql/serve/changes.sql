--! about: The days of the past in which the platform changed costs, as the books found it from the instant $since on: how much, and
--! about: the resource whose costs changed most. An hour that changed more than once, or of several resources, counts once.
with changed as (select *, cast(bucket_start as date) as day from restatements where seen_at >= cast($since as timestamp)),
hours_of_days as (select day, count(distinct bucket_start) as hours from changed group by day),
of_resources as (
  select
    day,
    workspace,
    resource_type,
    resource_name,
    -- A row that is new or gone changes the cost of the hour, too.
    sum(coalesce(new_cost, 0) - coalesce(old_cost, 0)) as cost,
    max(seen_at) as seen_at
  from changed
  group by all
)
select
  strftime(day, '%Y-%m-%d') as day,
  workspace,
  resource_type,
  resource_name,
  cast(cost as decimal(38, 12)) as resource_cost,
  hours_of_days.hours,
  cast(sum(cost) over of_day as decimal(38, 12)) as cost,
  strftime(max(seen_at) over of_day, '%Y-%m-%dT%H:%M:%SZ') as seen_at
from of_resources
join hours_of_days using (day)
window of_day as (partition by day)
qualify row_number() over (partition by day order by abs(of_resources.cost) desc, workspace, resource_type, resource_name) = 1
order by day desc;
