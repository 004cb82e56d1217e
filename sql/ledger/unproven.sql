--! about: Windows of an account that failed reconciliation when they were last fetched, newest first; and on how many days
--! about: they have failed since their hours were last proven.
with proven as (
  select covered.window_start, covered.window_end, loads.seen_at
  from ledger.covered as covered
  join ledger.loads as loads using (load_number)
  where covered.account = $account and covered.replaced_by is null
),
failed as (
  select window_start, window_end, proven_at
  from ledger.reconciliation
  where account = $account and load_number is null and not proven
)
select
  epoch_ms(unproven.window_start) as window_start,
  epoch_ms(unproven.window_end) as window_end,
  any_value(unproven.reason) as reason,
  any_value(unproven.is_young) as is_young,
  any_value(unproven.cost_difference) as cost_difference,
  count(distinct cast(failed.proven_at as date)) as nights
from ledger.unproven as unproven
left join failed
  on failed.window_start < unproven.window_end
  and failed.window_end > unproven.window_start
  and failed.proven_at > coalesce(
    (
      select max(proven.seen_at)
      from proven
      where proven.window_start < unproven.window_end and proven.window_end > unproven.window_start
    ),
    timestamp '1970-01-01'
  )
where unproven.account = $account
group by unproven.window_start, unproven.window_end
order by unproven.window_start desc;
