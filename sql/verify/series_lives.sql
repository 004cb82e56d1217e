--! about: How many series of each billing dimension had their first and their last day on which day.
with lives as (
  select
    series.billing_dimension,
    series.resource_name,
    series.resource_uuid,
    date_trunc('day', min(amounts.bucket_start)) as first_day,
    date_trunc('day', max(amounts.bucket_start)) as last_day
  from ledger.amounts as amounts
  join ledger.series as series using (series_id)
  where amounts.account = $account
    and amounts.bucket_start >= cast($window_start as timestamp)
    and amounts.bucket_start < cast($window_end as timestamp)
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
