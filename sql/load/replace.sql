--! about: Replaces the window by what was fetched, even if that is empty. Rows that differ are replaced, and previously
--! about: loaded ones go to the restatements. Unchanged rows stay as they were written.
insert into ledger.restatements
select
  $account, series_id, bucket_start, old_cost, new_cost, old_usage, new_usage, old_load_number,
  cast($load_number as bigint), cast($seen_at as timestamp)
from changes
where was_covered;

delete from ledger.hourly_costs
using changes
where hourly_costs.bucket_start >= cast($window_start as timestamp)
  and hourly_costs.bucket_start < cast($window_end as timestamp)
  and hourly_costs.series_id = changes.series_id
  and hourly_costs.bucket_start = changes.bucket_start;

insert into ledger.hourly_costs
select series_id, bucket_start, new_cost, new_usage, cast($load_number as bigint)
from changes
where new_cost is not null;
