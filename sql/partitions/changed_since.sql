--! about: The accounts and months in which a load after the given one added, changed or removed an hour. A row has the
--! about: number of the load that wrote it, so DuckDB skips older row groups; removed rows are restatements.
with hours as (
  select series_id, bucket_start from ledger.hourly_costs where load_number > $last_load
  union all
  select series_id, bucket_start from ledger.restatements where load_number > $last_load
),
-- Rows of lost hours have the number of the lost load.
restored as (
  select account, window_start, window_end
  from ledger.covered
  where load_number > $last_load and since_load < load_number
),
months as (select distinct series_id, date_trunc('month', bucket_start) as month from hours)
select distinct series.account, epoch_ms(cast(months.month as timestamp)) as month
from months
join ledger.series as series using (series_id)
union
select
  account,
  epoch_ms(
    unnest(
      generate_series(date_trunc('month', window_start), window_end - interval 1 hour, interval 1 month)
    )
  )
from restored
order by all;
