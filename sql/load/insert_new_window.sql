--! about: The rows of a window that has no hour in the books yet: there is nothing to compare them with.
insert into ledger.hourly_costs
select
  series_id,
  cast($window_start as timestamp) + to_hours(bucket),
  cost,
  usage,
  cast($load_number as bigint)
from loaded;
