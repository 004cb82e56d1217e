--! about: Whether a window proved when it was last read: its hours go off the record of what did not, and on it where
--! about: $because says why. What lies beside it stays on record; its last proven state stands.
insert into ledger.unproven
select account, window_start, cast($window_start as timestamp), reason, is_young, run_number, seen_at, cost_difference
from ledger.unproven
where account = $account
  and window_start < cast($window_start as timestamp)
  and window_end > cast($window_start as timestamp)
union all
select account, cast($window_end as timestamp), window_end, reason, is_young, run_number, seen_at, cost_difference
from ledger.unproven
where account = $account
  and window_start < cast($window_end as timestamp)
  and window_end > cast($window_end as timestamp);

delete from ledger.unproven
where account = $account
  and window_start < cast($window_end as timestamp)
  and window_end > cast($window_start as timestamp);

insert into ledger.unproven
select
  $account, cast($window_start as timestamp), cast($window_end as timestamp), $reason, cast($is_young as boolean),
  cast($run_number as bigint), cast($seen_at as timestamp), cast($cost_difference as decimal(38, 12))
where $reason is not null;
