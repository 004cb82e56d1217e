--! about: The hours of the books between two instants, and their restatements; everything else is whole. The instants are
--! about: constants when a query is planned, so that DuckDB skips other row groups.
create or replace view ledger.hourly_costs as
select series_id, bucket_start, cost, usage, load_number
from present.ledger.hourly_costs
where bucket_start >= getvariable('hours_from') and bucket_start < getvariable('hours_to');

create or replace view ledger.restatements as
select
  account, series_id, bucket_start, old_cost, new_cost, old_usage, new_usage, old_load_number, load_number, seen_at
from present.ledger.restatements
where bucket_start >= getvariable('hours_from') and bucket_start < getvariable('hours_to');
