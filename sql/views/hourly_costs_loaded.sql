--! about: Cost and usage by hour as last loaded.
--! grain: series_id, bucket_start
-- Internal: the view of changes after a close builds on it.
create or replace view ledger.hourly_costs_loaded as
select
  series_id,
  bucket_start,
  cost,
  usage, --: Usage, in the unit of its dimension
  load_number --: Load that wrote the row
from ledger.hourly_costs;
