--! about: Every close of a month by account, including reopened ones.
--! grain: billing_month, account, closed_at
--! cost: billed_cost
--! version: 2
select
  billing_month,
  account,
  closed_at,
  is_closed,
  row_count,
  cost,
  corrections,
  correction_cost,
  invoiced,
  invoice_difference,
  billed_cost,
  sha256,
  load_number,
  run_number,
  reopened_at,
  reopen_reason,
  currency,
  rate,
  rate_date,
  rate_source
from closes
order by billing_month, account, closed_at
