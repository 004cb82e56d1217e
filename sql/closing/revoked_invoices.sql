--! about: The invoices of the last close of a month that was reopened: none if that close had none; and
--! about: what it had in the books.
with last_close as (
  select account, invoiced, cost, correction_cost
  from closes
  where billing_month = cast($month as date) and not is_closed
  qualify closed_at = max(closed_at) over ()
)
select
  account, cast(invoiced as varchar) as invoiced, cast(cost as varchar) as cost,
  cast(correction_cost as varchar) as correction_cost
from last_close
where invoiced is not null
order by account;
