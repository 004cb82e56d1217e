--! about: Each month that was ever closed, oldest first, with the invoices of its last close: to close it again.
with last_close as (
  select billing_month, account, invoiced
  from closes
  qualify closed_at = max(closed_at) over (partition by billing_month)
)
select
  strftime(billing_month, '%Y-%m') as month,
  to_json(
    coalesce(
      list({'account': account, 'invoiced': cast(invoiced as varchar)} order by account) filter (invoiced is not null), []
    )
  ) as invoices
from last_close
group by billing_month
order by billing_month;
