--! about: Removes the rows of a window whose load was lost: hours without coverage have no rows. What earlier loads had
--! about: stored goes to the restatements, until the hours are fetched again.
insert into ledger.restatements
select
  $account, series_id, bucket_start, cost, null, usage, null, load_number,
  cast($load_number as bigint), cast($seen_at as timestamp)
from ledger.hourly_costs
where bucket_start >= cast($window_start as timestamp)
  and bucket_start < cast($window_end as timestamp)
  and series_id in (select series_id from ledger.series where account = $account);

delete from ledger.hourly_costs
where bucket_start >= cast($window_start as timestamp)
  and bucket_start < cast($window_end as timestamp)
  and series_id in (select series_id from ledger.series where account = $account);
