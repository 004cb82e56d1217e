--! about: Hours of closed months that changed after the close, as they were billed.
--! grain: series_id, bucket_start
-- Internal: public views build on it. It is a view and not a CTE of the view that reads it twice: DuckDB would compute
-- every column of every hour of a CTE, needed or not.
create or replace view ledger.hourly_costs_at_close as
select
  series_id, --: Series
  bucket_start,
  usage_month, --: First day of the closed month that contains the hour, UTC
  arg_min_null(old_cost, load_number) as cost, --: Cost in USD; null if the series had no row
  arg_min_null(old_usage, load_number) as usage --: Usage; null if the series had no row
from ledger.changes_after_close
group by series_id, bucket_start, usage_month;
