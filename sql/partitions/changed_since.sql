--! about: The accounts and months in which any hour was added, changed or removed by a load after the given one. An amount
--! about: has the number of the load that set it, so that DuckDB skips older row groups; removed ones are restatements.
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
