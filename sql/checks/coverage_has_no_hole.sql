--! about: Every hour between an account's first and last one in the books is there; what is missing did not prove yet.
--! severity: warn
with beside as (
  select
    account,
    window_start,
    max(window_end) over (
      partition by account
      order by window_start, window_end
      rows between unbounded preceding and 1 preceding
    ) as covered_before
  from ledger.covered
  where replaced_by is null
)
select account, covered_before as hole_start, window_start as hole_end
from beside
where window_start > covered_before
order by account, hole_start
