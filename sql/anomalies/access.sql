--! about: The accounts whose hours from $from on were fetched with both roles, now and at their last evaluation.
--! grain: account
with evaluated as (
  select account, load_number
  from ledger.anomaly_evaluations
  qualify row_number() over (partition by account order by evaluated_through desc, recorded_at desc) = 1
)
select
  covered.account,
  count(distinct covered.role) filter (covered.replaced_by is null) > 1 as is_merged,
  count(distinct covered.role) filter (
    covered.since_load <= evaluated.load_number
    and (covered.replaced_by is null or covered.replaced_by > evaluated.load_number)
  ) > 1 as was_merged
from ledger.covered as covered
left join evaluated on evaluated.account = covered.account
where covered.window_end > cast($from as timestamp)
group by covered.account
order by covered.account
