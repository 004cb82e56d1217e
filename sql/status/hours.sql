--! about: How many hours of series there are, and the last load that they and the ledger know. Every column is read.
select count(*) as hours, sum(cost) as cost, sum(usage) as usage, max(series_id) as series, max(load_number) as last,
  (select max(load_number) from ledger.loads) as loads
from ledger.hourly_costs;
