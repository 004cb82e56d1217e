--! about: The months that are closed, each with what was billed to every account.
select
  epoch_ms(cast(billing_month as timestamp)) as month, epoch_ms(closed_at) as closed_at,
  account, amounts, cost, corrections, correction_cost, digest, invoiced
from closes
where is_closed
order by billing_month, account;
