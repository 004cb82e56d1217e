--! about: Windows of an account that failed reconciliation when they were last fetched, newest first; and on how many days in
--! about: a row they have failed since all of their hours were last proven, and since which.
with failed as (
  select window_start, window_end, proven_at
  from ledger.reconciliation
  where account = $account and load_number is null and not proven
),
-- The proof of a part says nothing of the other hours.
failed_days as (
  select unproven.window_start, unproven.window_end, cast(failed.proven_at as date) as day
  from ledger.unproven as unproven
  join failed
    on failed.window_start < unproven.window_end
    and failed.window_end > unproven.window_start
    and failed.proven_at > coalesce(
      (
        select max(loads.seen_at)
        from ledger.covered as covered
        join ledger.loads as loads using (load_number)
        where covered.account = $account
          and covered.replaced_by is null
          and covered.window_start <= unproven.window_start
          and covered.window_end >= unproven.window_end
      ),
      timestamp '1970-01-01'
    )
  where unproven.account = $account
  group by all
),
numbered as (
  select *, row_number() over newest_first - 1 as days_before, max(day) over newest_first as newest
  from failed_days
  window newest_first as (partition by window_start, window_end order by day desc)
),
in_a_row as (
  select window_start, window_end, count(*) as nights, min(day) as failing_since
  from numbered
  where day = newest - cast(days_before as integer)
  group by window_start, window_end
)
select
  epoch_ms(unproven.window_start) as window_start,
  epoch_ms(unproven.window_end) as window_end,
  any_value(unproven.reason) as reason,
  any_value(unproven.is_young) as is_young,
  any_value(unproven.cost_difference) as cost_difference,
  coalesce(any_value(in_a_row.nights), 0) as nights,
  cast(any_value(in_a_row.failing_since) as varchar) as failing_since
from ledger.unproven as unproven
left join in_a_row using (window_start, window_end)
where unproven.account = $account
group by unproven.window_start, unproven.window_end
order by unproven.window_start desc;
