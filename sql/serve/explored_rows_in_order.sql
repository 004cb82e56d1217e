--! about: The rows of a download of explore: by bucket, the group that costs most in the window first and the rest last.
select
  bucket_start,
  bucket_end,
  is_complete,
  dimension,
  group_name,
  is_rest,
  cost,
  usage,
  unit,
  usd_per_unit,
  cost_before,
  usage_before
from explored_rows
order by bucket_start, is_rest, sum(cost) over (partition by group_name, is_rest) desc nulls last, group_name
