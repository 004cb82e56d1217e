--! about: The rows of a window of which no hour is in the books yet: nothing is there that they could differ from.
insert into ledger.hourly_costs
select
  series_id,
  cast($window_start as timestamp) + to_hours(bucket),
  cost,
  usage,
  cast($load_number as bigint)
from loaded;
