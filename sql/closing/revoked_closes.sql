--! about: The closes that a reopened month revoked, and whether the month was closed again.
--! grain: month, closed_at
select
  strftime(billing_month, '%Y-%m') as month,
  epoch_ms(closed_at) as closed_at,
  epoch_ms(max(reopened_at)) as reopened_at,
  billing_month in (select billing_month from ledger.closed_months) as is_closed_again
from closes
where not is_closed
group by billing_month, closed_at
order by billing_month, closed_at;
