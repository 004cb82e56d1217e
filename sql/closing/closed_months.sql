--! about: The closed months, each with what it billed to every account.
select
  epoch_ms(cast(billing_month as timestamp)) as month, epoch_ms(closed_at) as closed_at,
  account, row_count, cost, corrections, correction_cost, sha256, invoiced
from closes
where is_closed
order by billing_month, account;
