--! about: The owners that the month bills anything to, and what has no owner (null).
with billed as (
  select named, cost, null as invoice_difference
  from statement_costs
  where is_month
  union all
  select named, cost, null
  from statement_corrections
  union all
  select null, invoice_difference, invoice_difference
  from statement_invoice_differences
)
select
  named as owner,
  cast(sum(cost) as decimal(38, 12)) as billed_cost,
  cast(coalesce(sum(invoice_difference), 0) as decimal(38, 12)) as invoice_difference
from billed
group by named
order by named nulls last;
