--! about: Takes a window off the record of what did not prove; what lies beside it stays on record.
create or replace temp table unproven_beside as
select account, window_start, cast($window_start as timestamp) as window_end, because, is_young, run_number, seen_at
from ledger.unproven
where account = $account
  and window_start < cast($window_start as timestamp)
  and window_end > cast($window_start as timestamp)
union all
select account, cast($window_end as timestamp), window_end, because, is_young, run_number, seen_at
from ledger.unproven
where account = $account
  and window_start < cast($window_end as timestamp)
  and window_end > cast($window_end as timestamp);

delete from ledger.unproven
where account = $account
  and window_start < cast($window_end as timestamp)
  and window_end > cast($window_start as timestamp);

insert into ledger.unproven
select account, window_start, window_end, because, is_young, run_number, seen_at
from unproven_beside;
