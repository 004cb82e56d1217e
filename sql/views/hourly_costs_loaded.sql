--! about: Cost and usage by hour as they were last loaded, also in books that show closed months as of their close.
--! about: Internal: the view of changes after a close builds on it.
--! grain: series_id, bucket_start
create or replace view ledger.hourly_costs_loaded as
select series_id, bucket_start, cost, usage, load_number
from ledger.hourly_costs;
comment on view ledger.hourly_costs_loaded is 'Cost and usage by hour as last loaded';
comment on column ledger.hourly_costs_loaded.series_id is 'Series';
comment on column ledger.hourly_costs_loaded.bucket_start is 'Start of the hour, UTC';
comment on column ledger.hourly_costs_loaded.cost is 'Cost in USD';
comment on column ledger.hourly_costs_loaded.usage is 'Usage, in the unit of its dimension';
comment on column ledger.hourly_costs_loaded.load_number is 'Load that wrote the row';
