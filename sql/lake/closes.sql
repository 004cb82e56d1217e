--! about: Every close of a month by account, including reopened ones.
--! grain: billing_month, account, closed_at
--! cost: billed_cost
--! version: 2
from closes
order by billing_month, account, closed_at
