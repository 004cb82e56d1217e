--! about: No hour is missing between an account's first and last hour in the books. A missing hour is still unproven.
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
  -- Without the hours that a fast clock fetched before they began.
  from coverage
)
select account, covered_before as hole_start, window_start as hole_end
from beside
where window_start > covered_before
order by account, hole_start
