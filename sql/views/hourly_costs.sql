--! about: Cost and usage by hour and series number, without names.
--! grain: series_id, bucket_start
create or replace view hourly_costs as
select series_id, bucket_start, cost, usage
from ledger.hourly_costs;
comment on view hourly_costs is 'Cost and usage by hour, as costs, with the number of the series in the place of its names: add up here and join the view series then, which is faster than adding up by names';
comment on column hourly_costs.series_id is 'Number of the series, whose names stand in the view series';
comment on column hourly_costs.bucket_start is 'Start of the hour, UTC';
comment on column hourly_costs.cost is 'USD';
comment on column hourly_costs.usage is 'Usage in the unit of the series';
