--! about: How many hours of a window are in the books.
select
  coalesce(sum(date_diff('hour',
    greatest(window_start, cast($window_start as timestamp)),
    least(window_end, cast($window_end as timestamp)))), 0) as covered_hours
from ledger.covered
where account = $account
  and replaced_by is null
  and window_start < cast($window_end as timestamp)
  and window_end > cast($window_start as timestamp);
