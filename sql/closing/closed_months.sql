--! about: The closed months, with the cost billed to each account.
select
  epoch_ms(cast(billing_month as timestamp)) as month, epoch_ms(closed_at) as closed_at, run_number,
  account, row_count, cost, corrections, correction_cost, sha256, invoiced,
  no_invoice, currency, rate, cast(rate_date as varchar) as rate_date, rate_source
from closes
where is_closed
order by billing_month, account;
