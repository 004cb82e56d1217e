--! about: The accounts and months in which a load after the given one added, changed or removed an hour. A row has the
--! about: number of the load that wrote it, so DuckDB skips older row groups; removed rows are restatements.
with hours as (
  select series_id, bucket_start from ledger.hourly_costs where load_number > $last_load
  union all
  select series_id, bucket_start from ledger.restatements where load_number > $last_load
),
months as (select distinct series_id, date_trunc('month', bucket_start) as month from hours)
select distinct series.account, epoch_ms(cast(months.month as timestamp)) as month
from months
join ledger.series as series using (series_id)
order by all;
