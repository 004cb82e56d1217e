--! about: Covered windows that were fetched as admin and overlap a window.
select epoch_ms(window_start) as window_start, epoch_ms(window_end) as window_end
from ledger.covered
where account = $account and role = 'admin' and replaced_by is null
  and window_start < cast($window_end as timestamp) and window_end > cast($window_start as timestamp);
