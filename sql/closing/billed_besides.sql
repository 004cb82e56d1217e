--! about: What the months from $from to $to bill besides the costs of their own hours: corrections of earlier months, and
--! about: differences to invoices. Of one account with $account, of one workspace with $workspace, which no invoice has.
with corrected as (
  select sum(cost) as cost
  from corrections
  where billing_month >= cast($from as timestamp)
    and billing_month < cast($to as timestamp)
    and ($account is null or account = $account)
    and ($workspace is null or workspace = $workspace)
),
invoiced as (
  select sum(invoice_difference) as difference
  from closes
  where is_closed
    and invoiced is not null
    and billing_month >= cast($from as timestamp)
    and billing_month < cast($to as timestamp)
    and ($account is null or account = $account)
    and $workspace is null
)
select
  cast(coalesce(corrected.cost, 0) as decimal(38, 12)) as corrections,
  cast(coalesce(invoiced.difference, 0) as decimal(38, 12)) as invoice_difference
from corrected
cross join invoiced;
