--! about: A closed month still has the rows and the cost that it had at its close, its own hours as well as
--! about: corrections.
--! severity: fail
with billed as (
  select
    account,
    billing_month,
    count(*) filter (charge_class is null) as row_count,
    coalesce(sum(cost) filter (charge_class is null), 0) as cost,
    count(*) filter (charge_class is not null) as corrections,
    coalesce(sum(cost) filter (charge_class is not null), 0) as correction_cost
  from costs_billed
  where billing_month in (select billing_month from ledger.closed_months)
  group by account, billing_month
),
closed as (
  select billing_month, account, row_count, cost, corrections, correction_cost
  from closes
  where is_closed
)
select
  coalesce(closed.billing_month, billed.billing_month) as billing_month,
  coalesce(closed.account, billed.account) as account,
  closed.row_count as row_count_closed,
  coalesce(billed.row_count, 0) as row_count_now,
  closed.cost as cost_closed,
  coalesce(billed.cost, 0) as cost_now,
  closed.corrections as corrections_closed,
  coalesce(billed.corrections, 0) as corrections_now,
  closed.correction_cost as correction_cost_closed,
  coalesce(billed.correction_cost, 0) as correction_cost_now
from closed
full join billed on billed.billing_month = closed.billing_month and billed.account = closed.account
where closed.row_count is distinct from coalesce(billed.row_count, 0)
  or closed.cost is distinct from coalesce(billed.cost, 0)
  or closed.corrections is distinct from coalesce(billed.corrections, 0)
  or closed.correction_cost is distinct from coalesce(billed.correction_cost, 0)
order by billing_month, account
