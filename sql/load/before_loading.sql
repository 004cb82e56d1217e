--! about: How to load a window: whether each series and hour has only one row (an entry has each hour once), and how
--! about: many of its hours are in the books already.
with covered_hours as (
  select
    coalesce(sum(date_diff('hour',
      greatest(window_start, cast($window_start as timestamp)),
      least(window_end, cast($window_end as timestamp)))), 0) as covered_hours
  from ledger.covered
  where account = $account
    and replaced_by is null
    and window_start < cast($window_end as timestamp)
    and window_end > cast($window_start as timestamp)
)
select
  not exists (select 1 from differences)
  and (select count(*) = count(distinct series_id) from detail_entries) as has_unique_hours,
  covered_hours.covered_hours
from covered_hours;
