--! about: How many hours of each stretch of time are in the books of each account, whether they may be claimed yet or not.
--! grain: stretch, account
with stretches as (
  select
    stretch.stretch as stretch,
    cast(stretch.start as timestamp) as stretch_start,
    cast(stretch.end as timestamp) as stretch_end
  from (
    select unnest(from_json($stretches, '[{"stretch": "INTEGER", "start": "VARCHAR", "end": "VARCHAR"}]')) as stretch
  )
)
select
  stretches.stretch,
  coverage.account,
  cast(
    sum(
      epoch(least(coverage.window_end, stretches.stretch_end))
      - epoch(greatest(coverage.window_start, stretches.stretch_start))
    ) as bigint
  ) // 3600 as hours
from stretches
join coverage
  on coverage.window_start < stretches.stretch_end and coverage.window_end > stretches.stretch_start
group by stretches.stretch, coverage.account
order by stretches.stretch, coverage.account
