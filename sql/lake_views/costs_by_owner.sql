--! about: The view costs_by_owner over the lake: the same sums by owner and hour. The rows of shared cost are those of
--! about: its resources.
select account, series_id, bucket_start, rule, owner, is_shared, cost
from lake.costs_allocated
