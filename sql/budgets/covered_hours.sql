--! about: The number of hours of each window in the books of each account, including hours that are not complete yet.
--! grain: spend_window, account
with spend_windows as (
  select
    spend_window.spend_window as spend_window,
    cast(spend_window.start as timestamp) as window_start,
    cast(spend_window.end as timestamp) as window_end
  from (
    select unnest(from_json($spend_windows, '[{"spend_window": "INTEGER", "start": "VARCHAR", "end": "VARCHAR"}]')) as spend_window
  )
)
select
  spend_windows.spend_window,
  coverage.account,
  cast(
    sum(
      epoch(least(coverage.window_end, spend_windows.window_end))
      - epoch(greatest(coverage.window_start, spend_windows.window_start))
    ) as bigint
  ) // 3600 as hours
from spend_windows
join coverage
  on coverage.window_start < spend_windows.window_end and coverage.window_end > spend_windows.window_start
group by spend_windows.spend_window, coverage.account
order by spend_windows.spend_window, coverage.account
