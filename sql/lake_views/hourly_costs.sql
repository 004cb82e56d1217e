--! about: The view hourly_costs over the lake.
select series_id, bucket_start, cost, usage
from lake.costs
