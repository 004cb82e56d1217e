--! about: The state of each account's books, restatements since $since, and what its ingests fetched and loaded.
--! about: Unknown values are null.
--! grain: account
with windows as (
  select account, not is_young as is_unproven from ledger.unproven
  union all
  select account, true from ledger.contradictions
),
unproven as (
  select
    account,
    count(*) filter (is_unproven) as unproven,
    count(*) filter (not is_unproven) as postponed
  from windows
  group by account
),
changes as (
  select account, coalesce(new_cost, 0) - coalesce(old_cost, 0) as change
  from ledger.restatements
  where seen_at >= cast($since as timestamp)
),
restated as (
  select
    account,
    sum(change) filter (change > 0) as increase,
    -sum(change) filter (change < 0) as decrease
  from changes
  group by account
),
asked as (
  select
    account,
    cast(sum(requests) as bigint) as requests,
    cast(sum(retries) as bigint) as retries,
    cast(sum(row_count) as bigint) as rows_loaded,
    max_by(requests, run_number) as last_requests,
    max_by(retries, run_number) as last_retries,
    max_by(row_count, run_number) as last_rows
  from ledger.account_runs
  group by account
)
select
  accounts.account,
  -- Nothing watches the age of an account that has ended.
  case when accounts.ended_at is null then epoch_ms(accounts.complete_through) end as complete_through,
  case when accounts.ended_at is null then epoch_ms(accounts.settled_through) end as settled_through,
  coalesce(unproven.unproven, 0) as unproven,
  coalesce(unproven.postponed, 0) as postponed,
  -- An account without loads has no restatements.
  case when accounts.first_covered is not null then cast(coalesce(restated.increase, 0) as varchar) end as increase,
  case when accounts.first_covered is not null then cast(coalesce(restated.decrease, 0) as varchar) end as decrease,
  asked.requests,
  asked.retries,
  asked.rows_loaded,
  asked.last_requests,
  asked.last_retries,
  asked.last_rows
from accounts
left join unproven using (account)
left join restated using (account)
left join asked using (account)
order by accounts.account
