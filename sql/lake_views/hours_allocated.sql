--! about: The view hours_allocated over the lake.
select series_id, bucket_start, owner, is_shared, cost, usage
from lake.costs_allocated
