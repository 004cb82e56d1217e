--! about: The closed months, and the loads whose changes to earlier months each of them bills.
--! grain: billing_month
from ledger.closed_months
order by billing_month
