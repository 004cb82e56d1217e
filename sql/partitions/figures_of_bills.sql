--! about: Rows and cost that each account and month from $from to $to bills, by the books, and its cost with the difference to
--! about: an invoice.
with billed as (
  select series_id, billing_month, count(*) as rows, sum(cost) as cost
  from hourly_costs_billed
  where bucket_start >= cast($from as timestamp) and bucket_start < cast($to as timestamp)
  group by series_id, billing_month
  union all
  select series_id, billing_month, count(*), sum(cost)
  from corrections
  where billing_month >= cast($from as date) and billing_month < cast($to as date)
  group by series_id, billing_month
),
summed as (
  select series.account, billed.billing_month, sum(billed.rows) as rows, sum(billed.cost) as cost, 0 as invoice_difference
  from billed
  join series using (series_id)
  group by series.account, billed.billing_month
  union all
  select account, billing_month, 0, 0, invoice_difference
  from closes
  where is_closed and invoice_difference <> 0
)
select
  account,
  strftime(billing_month, '%Y-%m') as month,
  cast(sum(rows) as bigint) as rows,
  cast(cast(sum(cost) as decimal(38, 12)) as varchar) as cost,
  cast(cast(sum(cost) + sum(invoice_difference) as decimal(38, 12)) as varchar) as invoiced_cost
from summed
group by account, billing_month
