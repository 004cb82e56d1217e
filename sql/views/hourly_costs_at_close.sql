--! about: Hours of closed months that have changed since, as they were at the close: the old value of the first later
--! about: change. Internal: public views build on it. It is a view and not a CTE of the view that reads it twice:
--! about: DuckDB would compute every column of every hour of a CTE, needed or not.
--! grain: series_id, bucket_start
create or replace view ledger.hourly_costs_at_close as
select
  series_id,
  bucket_start,
  usage_month,
  arg_min_null(old_cost, load_number) as cost,
  arg_min_null(old_usage, load_number) as usage
from ledger.changes_after_close
group by series_id, bucket_start, usage_month;
comment on view ledger.hourly_costs_at_close is 'Hours of closed months that changed after the close, as they were billed';
comment on column ledger.hourly_costs_at_close.series_id is 'Series';
comment on column ledger.hourly_costs_at_close.bucket_start is 'Start of the hour, UTC';
comment on column ledger.hourly_costs_at_close.usage_month is 'First day of the closed month that contains the hour, UTC';
comment on column ledger.hourly_costs_at_close.cost is 'Cost in USD; null if the series had no row';
comment on column ledger.hourly_costs_at_close.usage is 'Usage; null if the series had no row';
