--! about: CTE hours_of_series (series_id, first_hour, last_hour, is_new): those of ledger.series_hours, and those that the
--! about: loads after $read_through have extended. Only blocks with new rows are read.
new_series_hours as (
  select series_id, min(bucket_start) as first_hour, max(bucket_start) as last_hour
  from ledger.hourly_costs
  where load_number > cast($read_through as bigint)
  group by series_id
),
hours_of_series as (
  select
    series_id,
    least(known.first_hour, new_series_hours.first_hour) as first_hour,
    greatest(known.last_hour, new_series_hours.last_hour) as last_hour,
    new_series_hours.series_id is not null as is_new
  from ledger.series_hours as known
  full join new_series_hours using (series_id)
),
