--! about: Cost and usage by hour and series number, without names.
--! grain: series_id, bucket_start
create or replace view hourly_costs as
select series_id, bucket_start, cost, usage
from ledger.hourly_costs;
comment on view hourly_costs is 'Cost and usage by hour, as in costs, with a series number instead of names. Faster than costs: sum here, then join view series';
comment on column hourly_costs.series_id is 'Number of the series; view series has its names';
comment on column hourly_costs.bucket_start is 'Start of the hour, UTC';
comment on column hourly_costs.cost is 'Cost in USD';
comment on column hourly_costs.usage is 'Usage, in the unit that view series names';
