--! about: CTE explored_costs (series_id, valid_at, bucket_start, cost, usage): the costs of two windows, by day between $from_day and
--! about: $to_day, $before_from_day and $before_to_day, and by hour before and after these whole days. `valid_at` is a time in which
--! about: the owner and the labels are those of the row.
explored_costs as (
  select series_id, valid_at, bucket_start, cost, usage
  from visible_days
  where (bucket_start >= cast($from_day as timestamp) and bucket_start < cast($to_day as timestamp))
    or (bucket_start >= cast($before_from_day as timestamp) and bucket_start < cast($before_to_day as timestamp))
  -- One range each, so that DuckDB reads only the rows in it.
  union all
  select series_id, bucket_start, bucket_start, cost, usage
  from visible_hours
  where bucket_start >= cast($from as timestamp) and bucket_start < cast($from_day as timestamp)
  union all
  select series_id, bucket_start, bucket_start, cost, usage
  from visible_hours
  where bucket_start >= cast($to_day as timestamp) and bucket_start < cast($to as timestamp)
  union all
  select series_id, bucket_start, bucket_start, cost, usage
  from visible_hours
  where bucket_start >= cast($before_from as timestamp) and bucket_start < cast($before_from_day as timestamp)
  union all
  select series_id, bucket_start, bucket_start, cost, usage
  from visible_hours
  where bucket_start >= cast($before_to_day as timestamp) and bucket_start < cast($before_to as timestamp)
),
