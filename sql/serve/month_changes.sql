--! about: What the platform changed in the hours of a month, by resource, and how much in all: from the instant $since on, or
--! about: since the close of the month if that is null. An hour that changed more than once counts once.
with changed as (
  select workspace, resource_type, resource_name, bucket_start, coalesce(new_cost, 0) - coalesce(old_cost, 0) as cost, seen_at
  from restatements
  where bucket_start >= cast($month as timestamp)
    and bucket_start < cast($month as timestamp) + interval 1 month
    and case
      when $since is null then load_number > (
        select max(load_number) from closes where is_closed and billing_month = cast($month as date)
      )
      else seen_at >= cast($since as timestamp)
    end
)
select
  workspace,
  resource_type,
  resource_name,
  count(distinct bucket_start) as hours,
  cast(sum(cost) as decimal(38, 12)) as cost,
  strftime(max(seen_at), '%Y-%m-%dT%H:%M:%SZ') as seen_at,
  (select count(distinct bucket_start) from changed) as all_hours,
  cast(sum(sum(cost)) over () as decimal(38, 12)) as all_cost
from changed
group by workspace, resource_type, resource_name
order by abs(sum(cost)) desc, workspace, resource_type, resource_name;
