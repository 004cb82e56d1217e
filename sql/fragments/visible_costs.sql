--! about: CTE visible_costs (series_id, bucket_start, cost, usage): what the viewer sees from $from to $to, summed by day
--! about: where a whole day is inside, and by hour in the days at both ends.
visible_costs as (
  select series_id, bucket_start, cost, usage
  from visible_days
  where bucket_start >= date_trunc('day', cast($from as timestamp) + interval 1 day - interval 1 microsecond)
    and bucket_start < date_trunc('day', cast($to as timestamp))
  union all
  select series_id, bucket_start, cost, usage
  from visible_hours
  where bucket_start >= cast($from as timestamp)
    and bucket_start < least(
      cast($to as timestamp),
      date_trunc('day', cast($from as timestamp) + interval 1 day - interval 1 microsecond)
    )
  union all
  select series_id, bucket_start, cost, usage
  from visible_hours
  where bucket_start >= greatest(
      date_trunc('day', cast($to as timestamp)),
      date_trunc('day', cast($from as timestamp) + interval 1 day - interval 1 microsecond)
    )
    and bucket_start < cast($to as timestamp)
),
