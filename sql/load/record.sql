--! about: The ledger's row of a load, its proofs, and the hours for which it speaks from now on.
insert into ledger.loads
select
  cast($load_number as bigint),
  cast($run_number as bigint),
  $account,
  cast($window_start as timestamp),
  cast($window_end as timestamp),
  $reason,
  $role,
  $outcome,
  cast($requests as integer),
  cast($pages as integer),
  $queries,
  (select count(*) from loaded),
  (select count(*) from changes),
  (select coalesce(sum(cost), 0) from loaded),
  cast($claimed_end as timestamp),
  cast($seen_at as timestamp),
  $landing;

insert into ledger.proofs
select
  cast($run_number as bigint), cast($load_number as bigint), $account,
  cast($window_start as timestamp), cast($window_end as timestamp),
  compared, measure, billing_dimension, amounts, ours, theirs, difference, tolerance, proven,
  cast($seen_at as timestamp)
from window_proofs;

create or replace temp table pieces_beside as
select account, window_start, cast($window_start as timestamp) as window_end, claimed_end, role, load_number
from ledger.covered
where account = $account
  and window_start < cast($window_start as timestamp)
  and window_end > cast($window_start as timestamp)
union all
select account, cast($window_end as timestamp), window_end, claimed_end, role, load_number
from ledger.covered
where account = $account
  and window_start < cast($window_end as timestamp)
  and window_end > cast($window_end as timestamp);

delete from ledger.covered
where account = $account
  and window_start < cast($window_end as timestamp)
  and window_end > cast($window_start as timestamp);

insert into ledger.covered
select account, window_start, window_end, claimed_end, role, load_number
from pieces_beside;
