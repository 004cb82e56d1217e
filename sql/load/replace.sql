--! about: What differs goes to the restatements, then the window is replaced whole, also when nothing is in it.
insert into ledger.series
select series_id, account, workspace, resource_type, resource_name, resource_uuid, billing_dimension
from incoming_series
where series_id in (select series_id from loaded)
  and series_id not in (select series_id from ledger.series);

insert into ledger.restatements
select
  $account, series_id, bucket_start, old_cost, new_cost, old_usage, new_usage, old_load_number,
  cast($load_number as bigint), cast($seen_at as timestamp)
from changes;

delete from ledger.amounts
where account = $account
  and bucket_start >= cast($window_start as timestamp)
  and bucket_start < cast($window_end as timestamp);

insert into ledger.amounts
select $account, series_id, bucket_start, cost, usage, cast($load_number as bigint)
from loaded;
