--! about: The closed months, and the loads whose changes to earlier months each of them bills.
--! grain: billing_month
--! version: 1
select
  billing_month,
  closed_at,
  after_load,
  through_load
from ledger.closed_months
order by billing_month
