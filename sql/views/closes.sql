--! about: Every close of a month by account, including reopened ones.
--! grain: billing_month, account, closed_at
create or replace view closes as
select
  billing_month,
  account,
  closed_at,
  reopened_at is null as is_closed,
  row_count,
  cost,
  corrections,
  correction_cost,
  invoiced,
  cast(invoiced - cost - correction_cost as decimal(38, 12)) as invoice_difference,
  cast(coalesce(invoiced, cost + correction_cost) as decimal(38, 12)) as billed_cost,
  sha256,
  load_number,
  run_number,
  reopened_at,
  reopen_reason,
  currency,
  rate,
  rate_date,
  rate_source
from ledger.closes;
comment on view closes is 'Every close of a month, one row per account, including reopened ones';
comment on column closes.billing_month is 'First day of the closed month, UTC';
comment on column closes.account is 'Billing account';
comment on column closes.closed_at is 'When the month was closed, UTC; its reports answer as of this instant';
comment on column closes.is_closed is 'Whether the close is still valid; false if the month was reopened';
comment on column closes.row_count is 'Number of hourly costs of the month itself';
comment on column closes.cost is 'Cost of the month itself at the close, USD';
comment on column closes.corrections is 'Number of corrections of earlier months that this month bills';
comment on column closes.correction_cost is 'Sum of those corrections, USD';
comment on column closes.invoiced is 'Total of the platform''s invoice for the month, including corrections of earlier months, USD; null if none was entered';
comment on column closes.invoice_difference is 'Invoiced amount minus the cost of the month itself and minus the corrections, USD; null if no invoice was entered';
comment on column closes.billed_cost is 'What the month bills, USD: the invoice if one was entered, otherwise the cost of the month itself plus the corrections';
comment on column closes.sha256 is 'SHA-256 of everything billed in the month at the close: the rows of costs_billed as JSON lines, in order, then a line with the invoice, then one with the rate if the month has one';
comment on column closes.load_number is 'Last load before the close';
comment on column closes.run_number is 'Run that closed the month';
comment on column closes.reopened_at is 'When the month was reopened, UTC; null while the close is valid';
comment on column closes.reopen_reason is 'Why the month was reopened';
comment on column closes.currency is 'Second currency of the month''s reports, such as EUR; null if the month was closed without one';
comment on column closes.rate is 'How much of that currency one USD is, as recorded at the close';
comment on column closes.rate_date is 'Day that the rate is of';
comment on column closes.rate_source is 'Who published the rate, as the setting named it at the close';
