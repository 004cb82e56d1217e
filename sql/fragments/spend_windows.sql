--! about: CTE spend_windows (spend_window, id, window_start, window_end): the windows in $spend_windows, a JSON list of
--! about: {spend_window, scope, start, end}; and boundaries, their starts and ends. They start and end on whole hours.
spend_windows as (
  select
    given.spend_window,
    given.scope as id,
    cast(given.start as timestamp) as window_start,
    cast(given.end as timestamp) as window_end
  from (
    select unnest(
      from_json($spend_windows, '[{"spend_window": "INTEGER", "scope": "INTEGER", "start": "VARCHAR", "end": "VARCHAR"}]'),
      recursive := true
    )
  ) as given
),
boundaries as (
  select window_start as boundary from spend_windows
  union
  select window_end from spend_windows
),
