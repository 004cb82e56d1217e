--! about: CTE hours_of_months (series_id, bucket_start, cost, usage): the hours of the months that $from to $to touches.
hours_of_months as not materialized (
  select series_id, bucket_start, cost, usage
  from ledger.hourly_costs
  where bucket_start >= date_trunc('month', cast($from as timestamp))
    and bucket_start < date_trunc('month', cast($to as timestamp) - interval 1 microsecond) + interval 1 month
),
