--! about: The number of hourly costs, and the last load in them and in the ledger. Reads every column.
select count(*) as hours, sum(cost) as cost, sum(usage) as usage, max(series_id) as series, max(load_number) as last,
  (select max(load_number) from ledger.loads) as loads
from ledger.hourly_costs;
