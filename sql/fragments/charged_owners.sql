--! about: The end of a query: what each owner is charged for the month ($month, $account, $dimension, $budgets), from the
--! about: CTEs owner_hours (owner, bucket_start, is_shared, cost): the month and the month before; and owner_corrections
--! about: (owner, cost, is_later): corrections of earlier months that the month bills, and corrections of the month that a later
--! about: one bills.
months as (
  select
    cast($month as timestamp) as month_start,
    cast($month as timestamp) + interval 1 month as month_end,
    cast($month as timestamp) - interval 1 month as base_start
),
books as (
  select
    months.month_start,
    months.month_end,
    months.base_start,
    accounts.complete_from <= months.base_start as has_base,
    -- An account without a complete hour has nothing to compare.
    least(months.month_end, coalesce(accounts.complete_through, months.month_start)) as compared_end
  from months
  cross join (
    select
      --! include: state_of_accounts
    from accounts
    where $account is null or account = $account
  ) as accounts
),
known as (
  select
    month_start,
    compared_end,
    -- A month without data cannot be compared.
    coalesce(
      has_base
        and compared_end > month_start
        -- The same hours: the month before may be shorter than the month so far.
        and (compared_end = month_end or base_start + (compared_end - month_start) <= month_start),
      false
    ) as has_month_before,
    -- Complete months are compared as a whole; others by the hours that both have.
    case
      when compared_end = month_end then month_start
      else least(month_start, base_start + (compared_end - month_start))
    end as base_end
  from books
),
owned as (
  select
    json_extract_string(owner, '/' || replace(replace($dimension, '~', '~0'), '/', '~1')) as owner,
    bucket_start < known.month_start as is_month_before,
    bucket_start < case when bucket_start < known.month_start then known.base_end else known.compared_end end
      as is_compared,
    is_shared,
    sum(cost) as cost
  from owner_hours
  cross join known
  group by all
),
charges as (
  select
    owner, is_month_before, is_compared, is_shared, cost, null as correction_cost, null as billed_later,
    null as invoice_difference
  from owned
  union all
  select
    json_extract_string(owner, '/' || replace(replace($dimension, '~', '~0'), '/', '~1')), false, false, false, 0,
    case when not is_later then cost end, case when is_later then cost end, null
  from owner_corrections
  union all
  -- Nobody owns what the platform's invoice bills beyond the costs.
  select null, false, false, false, 0, null, null, invoice_difference
  from closes
  where is_closed
    and invoiced is not null
    and billing_month = cast($month as date)
    and ($account is null or account = $account)
),
owners as (
  select
    owner,
    coalesce(sum(correction_cost), 0) as correction_cost,
    coalesce(sum(billed_later), 0) as billed_later,
    sum(invoice_difference) as invoice_difference,
    coalesce(sum(cost) filter (not is_month_before and not is_shared), 0) as direct_cost,
    coalesce(sum(cost) filter (not is_month_before and is_shared), 0) as shared_cost,
    coalesce(sum(cost) filter (not is_month_before), 0) as cost,
    coalesce(sum(cost) filter (not is_month_before and is_compared), 0) as cost_compared,
    coalesce(sum(cost) filter (is_month_before and is_compared), 0) as cost_month_before
  from charges
  group by owner
),
-- A limit for this month overrides the usual limit of its budget.
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
      -- Budgets cover all accounts together.
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
  cast(owners.correction_cost as decimal(38, 12)) as correction_cost,
  cast(owners.invoice_difference as decimal(38, 12)) as invoice_difference,
  cast(
    owners.cost - owners.billed_later + owners.correction_cost + coalesce(owners.invoice_difference, 0) as decimal(38, 12)
  ) as billed_cost,
  case when known.has_month_before then cast(owners.cost_month_before as decimal(38, 12)) end as cost_month_before,
  case when known.has_month_before then cast(owners.cost_compared - owners.cost_month_before as decimal(38, 12)) end as change,
  case
    when known.has_month_before
      then cast((owners.cost_compared - owners.cost_month_before) / nullif(owners.cost_month_before, 0) as decimal(38, 6))
  end as change_share,
  budgets.budget,
  cast(budgets.budget - owners.cost as decimal(38, 12)) as budget_left,
  cast(owners.cost / nullif(budgets.budget, 0) as decimal(38, 6)) as budget_share,
  case when known.has_month_before then known.compared_end end as compared_end,
  cast(owners.billed_later as decimal(38, 12)) as billed_later
from owners
cross join known
left join budgets on budgets.owner = owners.owner
