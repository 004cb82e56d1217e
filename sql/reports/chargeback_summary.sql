--! about: What is each team, or owner by another dimension, charged for the month, against the month before and its budget?
--! grain: month, owner
--! params: month month = last-complete, account text = *, dimension text = team, budgets text = *
--! totals: direct_cost, shared_cost, cost, cost_month_before, change
--! formats: csv, parquet
--! top: cost
--! important: owner, cost, direct_cost, shared_cost, change, budget, cost_month_before, month
-- One row an owner, over all accounts; without an owner it is null. Budgets are the monthly ones of jobs/budgets.yaml
-- whose scope names this one owner and nothing else; of several the smallest counts.
with owned as (
  select
    json_extract_string(owner, '/' || replace(replace($dimension, '~', '~0'), '/', '~1')) as owner,
    bucket_start < cast($month as timestamp) as is_month_before,
    is_shared,
    sum(cost) as cost
  from costs_allocated
  where bucket_start >= cast($month as timestamp) - interval 1 month
    and bucket_start < cast($month as timestamp) + interval 1 month
    and ($account is null or account = $account)
  group by all
),
-- A month in which nothing is known cannot be compared with.
known as (
  select coalesce(bool_and(history_start <= cast($month as timestamp) - interval 1 month), false) as has_month_before
  from accounts
  where $account is null or account = $account
),
owners as (
  select
    owner,
    coalesce(sum(cost) filter (not is_month_before and not is_shared), 0) as direct_cost,
    coalesce(sum(cost) filter (not is_month_before and is_shared), 0) as shared_cost,
    coalesce(sum(cost) filter (not is_month_before), 0) as cost,
    coalesce(sum(cost) filter (is_month_before), 0) as cost_month_before
  from owned
  group by owner
),
-- An amount of this month alone comes before the usual one of its budget.
budgets as (
  select owner, coalesce(min(amount) filter (month is not null), min(amount)) as budget
  from (
    select budget.owner as owner, budget.month as month, cast(budget.amount as decimal(38, 12)) as amount
    from (
      select unnest(
        from_json($budgets, '[{"dimension": "VARCHAR", "owner": "VARCHAR", "month": "VARCHAR", "amount": "VARCHAR"}]')
      ) as budget
    )
    where budget.dimension = $dimension
      and (budget.month is null or budget.month = strftime(cast($month as date), '%Y-%m'))
      -- Budgets are of all accounts together.
      and $account is null
  )
  group by owner
)
select
  cast($month as date) as month,
  owners.owner,
  cast(owners.direct_cost as decimal(38, 12)) as direct_cost,
  cast(owners.shared_cost as decimal(38, 12)) as shared_cost,
  cast(owners.cost as decimal(38, 12)) as cost,
  case when known.has_month_before then cast(owners.cost_month_before as decimal(38, 12)) end as cost_month_before,
  case when known.has_month_before then cast(owners.cost - owners.cost_month_before as decimal(38, 12)) end as change,
  case
    when known.has_month_before
      then cast((owners.cost - owners.cost_month_before) / nullif(owners.cost_month_before, 0) as decimal(38, 6))
  end as change_share,
  budgets.budget,
  cast(budgets.budget - owners.cost as decimal(38, 12)) as budget_left,
  cast(owners.cost / nullif(budgets.budget, 0) as decimal(38, 6)) as budget_share
from owners
cross join known
left join budgets on budgets.owner = owners.owner
