--! about: Each month that was ever closed, oldest first, with the invoices of its last close, none where none will come: to
--! about: close it again.
with last_close as (
  select billing_month, account, case when no_invoice then 'none' else cast(invoiced as varchar) end as invoiced
  from closes
  qualify closed_at = max(closed_at) over (partition by billing_month)
)
select
  strftime(billing_month, '%Y-%m') as month,
  to_json(
    coalesce(list({'account': account, 'invoiced': invoiced} order by account) filter (invoiced is not null), [])
  ) as invoices
from last_close
group by billing_month
order by billing_month;
