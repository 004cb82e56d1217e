--! about: Whether a window passed reconciliation at the last attempt: removes its hours from the unproven record, or
--! about: records them with $reason. Hours outside the window keep their record, and the last proven data stays.
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
