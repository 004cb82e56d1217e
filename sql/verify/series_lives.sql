--! about: How many series of each billing dimension had their first and their last day on which day.
with of_series as (
  select series_id, min(bucket_start) as first_hour, max(bucket_start) as last_hour
  from ledger.amounts
  where account = $account
    and bucket_start >= cast($window_start as timestamp)
    and bucket_start < cast($window_end as timestamp)
  group by series_id
),
lives as (
  select
    series.billing_dimension,
    series.resource_name,
    series.resource_uuid,
    date_trunc('day', min(of_series.first_hour)) as first_day,
    date_trunc('day', max(of_series.last_hour)) as last_day
  from of_series
  join ledger.series as series using (series_id)
  group by all
)
select billing_dimension, epoch_ms(day) as day, sum(began) as began, sum(ended) as ended
from (
  select billing_dimension, first_day as day, 1 as began, 0 as ended from lives
  union all
  select billing_dimension, last_day, 0, 1 from lives
)
group by billing_dimension, day
order by billing_dimension, day;
