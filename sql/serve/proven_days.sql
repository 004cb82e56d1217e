--! about: How complete each day from $from to $to is: hours of the accounts whose books had started, hours that are in the
--! about: books (all of them match the platform's totals), and whether a window that reaches into the day is unproven.
with days as (
  select unnest(generate_series(cast($from as timestamp), cast($to as timestamp) - interval 1 day, interval 1 day)) as day
),
expected as (
  select
    days.day,
    sum(
      date_diff('hour', greatest(days.day, accounts.history_start), least(days.day + interval 1 day, accounts.known_end))
    ) as hours
  from days
  join (
    -- Nothing more comes of an account that has ended.
    select
      history_start, case when ended_at is null then timestamp 'infinity' else coalesce(complete_through, history_start) end as known_end
    from accounts
  ) as accounts on accounts.history_start < days.day + interval 1 day and accounts.known_end > days.day
  group by days.day
),
covered as (
  select
    days.day,
    sum(
      date_diff(
        'hour',
        greatest(days.day, coverage.window_start),
        least(days.day + interval 1 day, coverage.claimed_end)
      )
    ) as hours
  from days
  join coverage on coverage.window_start < days.day + interval 1 day and coverage.claimed_end > days.day
  group by days.day
),
unproven as (
  select days.day, count(*) as windows
  from days
  join ledger.unproven as unproven
    on unproven.window_start < days.day + interval 1 day and unproven.window_end > days.day
  where not unproven.is_young
  group by days.day
)
select
  strftime(days.day, '%Y-%m-%d') as day,
  cast(coalesce(expected.hours, 0) as integer) as hours_expected,
  cast(coalesce(covered.hours, 0) as integer) as hours_covered,
  coalesce(unproven.windows, 0) as unproven
from days
left join expected on expected.day = days.day
left join covered on covered.day = days.day
left join unproven on unproven.day = days.day
order by days.day;
