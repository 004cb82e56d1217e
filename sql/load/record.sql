--! about: The ledger's row of a load, and the hours that it speaks for no longer as they were.
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
  cast($amounts as bigint),
  cast($restated as bigint),
  cast($cost as decimal(38, 12)),
  cast($claimed_end as timestamp),
  cast($seen_at as timestamp),
  $landing;

create or replace temp table pieces_beside as
select account, window_start, cast($window_start as timestamp) as window_end, claimed_end, role, load_number
from ledger.covered
where account = $account
  and replaced_by is null
  and window_start < cast($window_start as timestamp)
  and window_end > cast($window_start as timestamp)
union all
select account, cast($window_end as timestamp), window_end, claimed_end, role, load_number
from ledger.covered
where account = $account
  and replaced_by is null
  and window_start < cast($window_end as timestamp)
  and window_end > cast($window_end as timestamp);

update ledger.covered
set replaced_by = cast($load_number as bigint)
where account = $account
  and replaced_by is null
  and window_start < cast($window_end as timestamp)
  and window_end > cast($window_start as timestamp);

insert into ledger.covered
select account, window_start, window_end, claimed_end, role, load_number, cast($load_number as bigint), null
from pieces_beside;
