--! about: The parts of a window that are in the books, in order.
select
  epoch_ms(greatest(window_start, cast($window_start as timestamp))) as window_start,
  epoch_ms(least(window_end, cast($window_end as timestamp))) as window_end
from ledger.covered
where account = $account
  and replaced_by is null
  and window_start < cast($window_end as timestamp)
  and window_end > cast($window_start as timestamp)
order by window_start;
