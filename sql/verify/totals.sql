--! about: Both sums over all days that were compared, and on how many days with cost the platform tells less than the books.
with days as (
  select bucket_start, sum(our_cost) as ours, sum(their_cost) as theirs
  from compared_past
  group by bucket_start
)
select
  coalesce(sum(ours), 0) as ours,
  coalesce(sum(theirs), 0) as theirs,
  count(*) filter (ours > 0) as days,
  count(*) filter (ours > 0 and theirs < ours * 0.999) as lower_days
from days;
