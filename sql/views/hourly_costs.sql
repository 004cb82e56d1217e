--! about: Cost and usage by hour, as in costs, with a series number instead of names. Faster than costs: sum here, then
--! about: join view series.
--! grain: series_id, bucket_start
create or replace view hourly_costs as
select
  series_id,
  bucket_start,
  cost,
  usage --: Usage, in the unit that view series names
from ledger.hourly_costs;
