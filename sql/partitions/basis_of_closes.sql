--! about: For each account and month whose bill differs from its hours, a text that changes when it does: closed months,
--! about: corrections and invoices.
with parts as (
  select series.account, hours.usage_month as month, hash('hours', hours.series_id, hours.bucket_start, hours.cost, hours.usage) as hash
  from lake_at_close as hours
  join lake_series as series using (series_id)
  union all
  select series.account, hours.billing_month, hash('corrections', hours.series_id, hours.bucket_start, hours.cost, hours.usage)
  from lake_corrections as hours
  join lake_series as series using (series_id)
  union all
  select account, billing_month, hash('invoice', invoice_difference)
  from closes
  where is_closed and invoice_difference <> 0
)
select account, strftime(month, '%Y-%m') as month, cast(sum(cast(hash as hugeint)) as varchar) as basis
from parts
group by account, month
