--! about: Ends earlier coverage inside a load's window; the parts outside the window stay as they were.
create or replace temp table coverage_beside as
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
from coverage_beside;
