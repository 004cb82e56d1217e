--! about: What the platform changed in the hours of a month, by resource, and how much in all: from the instant $since on, or
--! about: since the close of the month if that is null.
select
  workspace,
  resource_type,
  resource_name,
  count(*) as hours,
  cast(sum(coalesce(new_cost, 0) - coalesce(old_cost, 0)) as decimal(38, 12)) as cost,
  strftime(max(seen_at), '%Y-%m-%dT%H:%M:%SZ') as seen_at,
  cast(sum(count(*)) over () as bigint) as all_hours,
  cast(sum(sum(coalesce(new_cost, 0) - coalesce(old_cost, 0))) over () as decimal(38, 12)) as all_cost
from restatements
where bucket_start >= cast($month as timestamp)
  and bucket_start < cast($month as timestamp) + interval 1 month
  and case
    when $since is null then load_number > (
      select max(load_number) from closes where is_closed and billing_month = cast($month as date)
    )
    else seen_at >= cast($since as timestamp)
  end
group by workspace, resource_type, resource_name
order by abs(sum(coalesce(new_cost, 0) - coalesce(old_cost, 0))) desc, workspace, resource_type, resource_name;
