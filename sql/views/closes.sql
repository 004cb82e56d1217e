--! about: Every close of a month, by account, also those that were reopened.
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
  cast(invoiced - cost as decimal(38, 12)) as invoice_difference,
  sha256,
  load_number,
  run_number,
  reopened_at,
  reopen_reason
from ledger.closes;
comment on view closes is 'Every close of a month, one row an account, also those that were reopened';
comment on column closes.billing_month is 'Month that was closed, its first day';
comment on column closes.account is 'Account that pays';
comment on column closes.closed_at is 'When, UTC: reports of the month answer as of this instant';
comment on column closes.is_closed is 'Whether the close stands; false where the month was reopened';
comment on column closes.row_count is 'Hours of series of the month itself';
comment on column closes.cost is 'USD of the month itself as of the close';
comment on column closes.corrections is 'Corrections of earlier months that are delivered in the month, rows';
comment on column closes.correction_cost is 'USD of those corrections';
comment on column closes.invoiced is 'USD of the platform''s invoice; null where none was told';
comment on column closes.invoice_difference is 'USD invoiced less the cost of the month itself; null where no invoice was told';
comment on column closes.sha256 is 'SHA-256 of what was billed in the month as of the close: the rows of costs_billed as JSON lines, in order';
comment on column closes.load_number is 'Last load before the close';
comment on column closes.run_number is 'Run that closed it';
comment on column closes.reopened_at is 'When it was reopened, UTC; null where the close stands';
comment on column closes.reopen_reason is 'Why it was reopened';
