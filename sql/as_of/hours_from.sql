--! about: The hours of the books from an instant on; everything else is whole. The instant is a constant when a query is
--! about: planned, so that DuckDB skips older row groups.
create or replace view ledger.hourly_costs as
select series_id, bucket_start, cost, usage, load_number
from present.ledger.hourly_costs
where bucket_start >= getvariable('hours_from');
