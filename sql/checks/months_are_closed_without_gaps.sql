--! about: Closed months follow each other without gaps. Each is closed once, and not before the month before it.
--! severity: fail
with in_order as (
  select
    billing_month,
    closed_at,
    lag(billing_month) over (order by billing_month, closed_at) as month_before,
    lag(closed_at) over (order by billing_month, closed_at) as closed_before,
    after_load,
    through_load
  from ledger.closed_months
)
select billing_month, closed_at, month_before, closed_before
from in_order
where billing_month <> month_before + interval 1 month
  or closed_at <= closed_before
  or through_load < after_load
order by billing_month, closed_at
