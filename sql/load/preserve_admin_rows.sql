--! about: Hours fetched as admin keep their rows, which name the workspace, if a member token confirms their totals.
delete from loaded_rows
where cast($window_start as timestamp) + to_hours(bucket) >= cast($part_start as timestamp)
  and cast($window_start as timestamp) + to_hours(bucket) < cast($part_end as timestamp);

insert into loaded_rows
select series_id, cast(date_diff('hour', cast($window_start as timestamp), bucket_start) as integer), cost, usage
from ledger.hourly_costs
where series_id in (select series_id from ledger.series where account = $account)
  and bucket_start >= cast($part_start as timestamp)
  and bucket_start < cast($part_end as timestamp);
