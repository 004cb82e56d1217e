--! about: The covered windows of a month by account, each with its load, as JSON: a close stores them.
select
  account,
  cast(
    to_json(
      list(
        {
          'window_start': cast(greatest(window_start, cast($month as timestamp)) as varchar),
          'window_end': cast(least(window_end, cast($month as timestamp) + interval 1 month) as varchar),
          'load_number': load_number
        }
        order by window_start
      )
    ) as varchar
  ) as covered
from ledger.covered
where replaced_by is null
  and window_start < cast($month as timestamp) + interval 1 month
  and window_end > cast($month as timestamp)
group by account
order by account
