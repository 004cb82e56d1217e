--! about: Times of the last seven days of each account in which nothing was charged, though every hour before had costs: at
--! about: least three hours, and more than twice the longest such time of the four weeks before. With what as many hours
--! about: usually cost, USD: the mean of the week before. Needs a week of costs before, and an amount of a US dollar.
--! grain: account, silent_from
with hours as (
  select series.account, accounts.complete_through, hourly_costs.bucket_start, sum(hourly_costs.cost) as cost
  from accounts
  join series on series.account = accounts.account
  join hourly_costs on hourly_costs.series_id = series.series_id
  where hourly_costs.bucket_start >= accounts.complete_through - interval 35 days
    and hourly_costs.bucket_start < accounts.complete_through
    and hourly_costs.cost <> 0
  group by all
),
gaps as (
  select
    account,
    complete_through,
    bucket_start + interval 1 hour as silent_from,
    lead(bucket_start, 1, complete_through) over of_account as silent_to,
    date_diff('hour', silent_from, silent_to) as silent_hours,
    min(bucket_start) over (partition by account) as first_hour,
    sum(cost) over (of_account range between interval 167 hours preceding and current row) as cost_before
  from hours
  window of_account as (partition by account order by bucket_start)
),
judged as (
  select
    *,
    max(silent_hours) over (
      partition by account order by silent_from
      range between interval 28 days preceding and interval 1 hour preceding
    ) as longest_before
  from gaps
)
select
  account,
  strftime(silent_from, '%Y-%m-%dT%H:%M:%SZ') as silent_from,
  strftime(silent_to, '%Y-%m-%dT%H:%M:%SZ') as silent_to,
  cast(cast(cost_before * silent_hours / 168 as decimal(38, 12)) as varchar) as usual_cost
from judged
where judged.silent_from >= complete_through - interval 7 days
  and silent_hours >= 3
  and silent_hours > 2 * coalesce(longest_before, 0)
  and first_hour <= judged.silent_from - interval 7 days
  and cost_before * silent_hours / 168 >= 1
order by account, judged.silent_from desc;
