--! about: The newest closed month of each account whose invoice is due but was not entered, with what it bills, and the
--! about: closed months to reopen for it. Without $days, only accounts that an earlier month was closed with an invoice of.
--! grain: account
with closed as (
  select account, billing_month, invoiced, billed_cost
  from closes
  where is_closed and not no_invoice
),
due as (
  select account, billing_month, billed_cost
  from closed
  where invoiced is null
    and billed_cost <> 0
    and billing_month + interval 1 month + to_days(coalesce(cast($days as integer), 10)) <= cast($now as timestamp)
    and (
      $days is not null
      or exists (
        from closed as earlier
        where earlier.account = closed.account
          and earlier.billing_month < closed.billing_month
          and earlier.invoiced is not null
      )
    )
    and not exists (
      from closed as later
      where later.account = closed.account
        and later.billing_month > closed.billing_month
        and later.invoiced is not null
    )
  qualify row_number() over (partition by account order by billing_month desc) = 1
)
select
  due.account,
  strftime(due.billing_month, '%Y-%m') as month,
  cast(due.billed_cost as varchar) as billed,
  (
    select string_agg(strftime(billing_month, '%Y-%m'), ',' order by billing_month)
    from ledger.closed_months
    where closed_months.billing_month >= due.billing_month
  ) as reopen
from due
order by due.account
