--! about: The queries of the newest load that covers any part of a window.
select loads.queries
from coverage
join ledger.loads as loads using (load_number)
where coverage.account = $account
  and coverage.window_start < cast($window_end as timestamp)
  and coverage.window_end > cast($window_start as timestamp)
order by load_number desc
limit 1;
