--! about: Every close of a month, one row per account, including reopened ones.
--! grain: billing_month, account, closed_at
create or replace view closes as
select
  billing_month, --: First day of the closed month, UTC
  account,
  closed_at,
  reopened_at is null as is_closed, --: Whether the close is still valid; false if the month was reopened
  row_count, --: Number of hourly costs of the month itself
  cost, --: Cost of the month itself at the close, USD
  corrections, --: Number of corrections of earlier months that this month bills
  correction_cost, --: Sum of those corrections, USD
  invoiced, --: Total of the platform's invoice for the month, including corrections of earlier months, USD; null if none was entered
  cast(invoiced - cost - correction_cost as decimal(38, 12)) as invoice_difference, --: Invoiced amount minus the cost of the month itself and minus the corrections, USD; null if no invoice was entered
  cast(coalesce(invoiced, cost + correction_cost) as decimal(38, 12)) as billed_cost, --: What the month bills, USD: the invoice if one was entered, otherwise the cost of the month itself plus the corrections
  sha256, --: SHA-256 of everything billed in the month at the close: the rows of costs_billed as JSON lines, in order, then a line with the invoice, then one with the rate if the month has one
  load_number, --: Last load before the close
  run_number, --: Run that closed the month
  reopened_at, --: When the month was reopened, UTC; null while the close is valid
  reopen_reason, --: Why the month was reopened
  currency, --: Second currency of the month's reports, such as EUR; null if the month was closed without one
  rate, --: How much of that currency one USD is, as recorded at the close
  rate_date, --: Day that the rate is of
  rate_source, --: Who published the rate, as the setting named it at the close
  coalesce(has_no_invoice, false) as no_invoice --: Whether the month was closed with --invoice none: no invoice will come
from ledger.closes;
