--! about: The view hourly_costs_billed over the lake.
select series_id, billing_month, bucket_start, cost, usage
from lake.costs_billed
where charge_class is null
