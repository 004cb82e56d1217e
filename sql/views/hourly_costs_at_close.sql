--! about: The hours of closed months that changed since, as they were at the close: what the first change after it put
--! about: something in the place of; of the ledger, for the views that the public ones are made of. A view, not a WITH
--! about: of the one that reads it twice: there DuckDB would work out every column of every hour, asked for or not.
--! grain: series_id, bucket_start
create or replace view ledger.hourly_costs_at_close as
select
  series_id,
  bucket_start,
  usage_month,
  arg_min_null(old_cost, load_number) as cost,
  arg_min_null(old_usage, load_number) as usage
from ledger.late_changes
group by series_id, bucket_start, usage_month;
comment on view ledger.hourly_costs_at_close is 'Hours of closed months that changed after the close, as they were billed';
comment on column ledger.hourly_costs_at_close.series_id is 'Series';
comment on column ledger.hourly_costs_at_close.bucket_start is 'Start of the hour, UTC';
comment on column ledger.hourly_costs_at_close.usage_month is 'Closed month in which the hour lies, its first day';
comment on column ledger.hourly_costs_at_close.cost is 'USD; null where the series had no row';
comment on column ledger.hourly_costs_at_close.usage is 'Usage; null where the series had no row';
