--! about: Removes the rows of a window whose load was lost: hours without coverage have no rows.
delete from ledger.hourly_costs
where bucket_start >= cast($window_start as timestamp)
  and bucket_start < cast($window_end as timestamp)
  and series_id in (select series_id from ledger.series where account = $account);
