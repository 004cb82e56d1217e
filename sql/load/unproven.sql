--! about: Whether any part of a window is recorded as unproven.
select 1 from ledger.unproven
where account = $account
  and window_start < cast($window_end as timestamp) and window_end > cast($window_start as timestamp)
limit 1;
