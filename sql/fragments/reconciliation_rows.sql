--! about: The end of a query: the comparisons of the CTE compared_all (check_code, measure, billing_dimension, row_count,
--! about: ours, theirs, tolerance), with their difference and whether it is within the tolerance.
select
  check_code,
  measure,
  billing_dimension,
  cast(row_count as bigint) as row_count,
  cast(ours as decimal(38, 12)) as ours,
  cast(theirs as decimal(38, 12)) as theirs,
  cast(ours - theirs as decimal(38, 12)) as difference,
  tolerance,
  abs(cast(ours - theirs as double)) <= tolerance as proven
from compared_all;
