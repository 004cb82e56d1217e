--! about: Times in which nothing was charged to an account, though the week before had costs in at least 160 of its 168
--! about: hours: at least three hours, and more than twice the longest such time of the four weeks before; ended at most
--! about: seven days ago, or going on. With what as many hours usually cost, USD: the mean of that week; at least a US dollar.
--! about: The same of each workspace, for times that began in the last seven days, unless its whole account has none, or a
--! about: resource of it goes on in another workspace of the account, as after a new name.
--! about: And the resources that cost most in that week, up to three, and how many cost anything.
--! grain: account, workspace, silent_from
with charged as (
  -- A time without costs may have begun long ago: the weeks before it count, not those before now.
  select series.account, max(hourly_costs.bucket_start) as last_hour
  from accounts
  join series on series.account = accounts.account
  join hourly_costs on hourly_costs.series_id = series.series_id
  where hourly_costs.bucket_start < accounts.complete_through - interval 7 days
    and hourly_costs.cost <> 0
  group by series.account
),
hours as (
  select
    series.account,
    accounts.complete_through,
    hourly_costs.bucket_start,
    series.workspace,
    grouping(series.workspace) = 1 as is_whole,
    sum(hourly_costs.cost) as cost
  from accounts
  left join charged on charged.account = accounts.account
  join series on series.account = accounts.account
  join hourly_costs on hourly_costs.series_id = series.series_id
  where hourly_costs.bucket_start >= coalesce(last_hour, accounts.complete_through - interval 7 days) - interval 28 days
    and hourly_costs.bucket_start < accounts.complete_through
    and hourly_costs.cost <> 0
  group by grouping sets (
    (series.account, accounts.complete_through, hourly_costs.bucket_start),
    (series.account, accounts.complete_through, hourly_costs.bucket_start, series.workspace)
  )
),
gaps as (
  select
    account,
    workspace,
    is_whole,
    complete_through,
    bucket_start + interval 1 hour as silent_from,
    lead(bucket_start, 1, complete_through) over of_place as silent_to,
    date_diff('hour', silent_from, silent_to) as silent_hours,
    sum(cost) over week_before as cost_before,
    count(*) over week_before as hours_before
  from hours
  window
    of_place as (partition by account, is_whole, workspace order by bucket_start),
    week_before as (of_place range between interval 167 hours preceding and current row)
),
judged as (
  select
    *,
    max(silent_hours) over (
      partition by account, is_whole, workspace order by silent_from
      range between interval 28 days preceding and interval 1 hour preceding
    ) as longest_before
  from gaps
),
silent as (
  from judged
  where judged.silent_to >= complete_through - interval 7 days
    and silent_hours >= 3
    and silent_hours > 2 * coalesce(longest_before, 0)
    and hours_before >= 160
    and cost_before * silent_hours / 168 >= 1
),
reported as (
  from silent
  where is_whole
    or (
      workspace is not null
      and silent_from >= complete_through - interval 7 days
      and not exists (
        from silent as whole
        where whole.is_whole
          and whole.account = silent.account
          and whole.silent_from < silent.silent_to
          and whole.silent_to > silent.silent_from
      )
      and not exists (
        from series as before
        join series as since
          on since.account = before.account
          and since.resource_uuid = before.resource_uuid
          and since.workspace <> before.workspace
        join hourly_costs
          on hourly_costs.series_id = since.series_id
          and hourly_costs.bucket_start >= silent.silent_from
          and hourly_costs.bucket_start < silent.silent_to
          and hourly_costs.cost <> 0
        where before.account = silent.account and before.workspace = silent.workspace
      )
    )
),
resources as (
  select reported.account, reported.workspace, reported.silent_from, series.resource_type, series.resource_name,
    sum(hourly_costs.cost) as cost
  from reported
  join series on series.account = reported.account and (reported.is_whole or series.workspace = reported.workspace)
  join hourly_costs on hourly_costs.series_id = series.series_id
    and hourly_costs.bucket_start >= reported.silent_from - interval 168 hours
    and hourly_costs.bucket_start < reported.silent_from
    and hourly_costs.cost <> 0
  group by all
),
largest as (
  select account, workspace, silent_from, count(*) as resource_count,
    to_json(max_by(concat_ws(' ', resource_type, resource_name), cost, 3)) as resources
  from resources
  group by account, workspace, silent_from
)
select
  reported.account,
  reported.workspace,
  strftime(reported.silent_from, '%Y-%m-%dT%H:%M:%SZ') as silent_from,
  strftime(reported.silent_to, '%Y-%m-%dT%H:%M:%SZ') as silent_to,
  cast(cast(reported.cost_before * reported.silent_hours / 168 as decimal(38, 12)) as varchar) as usual_cost,
  largest.resources,
  largest.resource_count
from reported
left join largest
  on largest.account = reported.account
  and largest.workspace is not distinct from reported.workspace
  and largest.silent_from = reported.silent_from
order by reported.account, reported.silent_from desc, reported.workspace;
