--! about: The hours and corrections that a month bills, of all accounts (series_id, charge_class, bucket_start, cost, usage):
--! about: the view costs_billed between $start and $end, from the temporary tables of sql/partitions/billed.sql.
select series_id, cast(null as varchar) as charge_class, bucket_start, cost, usage
from ledger.hourly_costs as hourly_costs
anti join lake_at_close as at_close using (series_id, bucket_start)
where bucket_start >= cast($start as timestamp) and bucket_start < cast($end as timestamp)
union all
select series_id, null, bucket_start, cost, usage
from lake_at_close
where usage_month = cast($start as date) and cost is not null
union all
select series_id, 'Correction', bucket_start, cost, usage
from lake_corrections
where billing_month = cast($start as date)
