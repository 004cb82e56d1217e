--! about: Hours of the window that the books once had and lost, each with the number of the load that stored them: a
--! about: repair accepted its loss, or a close has the hours and no load does. was_covered marks hours that an earlier
--! about: load had, too: the lost load changed them, or found them unchanged.
--! grain: bucket_start
create or replace temp table lost_hours as
with history as (
  select window_start, window_end, load_number, since_load, replaced_by
  from ledger.covered
  where account = $account
    and window_start < cast($window_end as timestamp)
    and window_end > cast($window_start as timestamp)
),
hours as (
  select unnest(
    generate_series(cast($window_start as timestamp), cast($window_end as timestamp) - interval 1 hour, interval 1 hour)
  ) as bucket_start
),
missing as (
  select hours.bucket_start, coalesce(max(history.load_number), 0) as last_load
  from hours
  left join history
    on hours.bucket_start >= history.window_start and hours.bucket_start < history.window_end
  group by hours.bucket_start
  having count(*) filter (history.window_start is not null and history.replaced_by is null) = 0
),
-- Every other load covers its window.
lost_loads as (
  select loads.load_number, loads.window_start, loads.window_end
  from ledger.loads as loads
  anti join ledger.covered as covered on covered.load_number = loads.load_number
  where loads.account = $account
    and loads.window_start < cast($window_end as timestamp)
    and loads.window_end > cast($window_start as timestamp)
),
-- The description of a lost load may be lost, too: then only a close knows which hours it had.
closed as (
  select unnest(
    from_json(covered, '[{"window_start": "TIMESTAMP", "window_end": "TIMESTAMP", "load_number": "BIGINT"}]'),
    recursive := true
  )
  from ledger.closes
  where account = $account and covered is not null and load_number < cast($load_number as bigint)
),
stored as (
  select window_start, window_end, load_number from lost_loads
  union all
  select window_start, window_end, load_number from closed
),
lost as (
  select missing.bucket_start, min(stored.load_number) as load_number
  from missing
  join stored
    on missing.bucket_start >= stored.window_start
    and missing.bucket_start < stored.window_end
    and stored.load_number > missing.last_load
  group by missing.bucket_start
)
select
  lost.bucket_start,
  lost.load_number,
  count(history.load_number) > 0 as was_covered
from lost
left join history
  on history.replaced_by = lost.load_number
  and lost.bucket_start >= history.window_start
  and lost.bucket_start < history.window_end
group by lost.bucket_start, lost.load_number;
