--! about: Every account and month with any cost, in order. Reads the hour of every row.
with hours as (
  select series_id, bucket_start from ledger.hourly_costs
),
months as (select distinct series_id, date_trunc('month', bucket_start) as month from hours)
select distinct series.account, epoch_ms(cast(months.month as timestamp)) as month
from months
join ledger.series as series using (series_id)
order by all;
