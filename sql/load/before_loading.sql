--! about: How to load a window: whether each series and hour has only one row (an entry has each hour once), how many of
--! about: its hours are in the books already, and whether the books may have had and lost some: only an earlier load of
--! about: them or a close names hours that are lost.
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
  covered_hours.covered_hours,
  exists (
    select 1 from ledger.loads
    where account = $account
      and window_start < cast($window_end as timestamp)
      and window_end > cast($window_start as timestamp)
  )
  or exists (select 1 from ledger.closes where account = $account and covered is not null) as may_have_lost
from covered_hours;
