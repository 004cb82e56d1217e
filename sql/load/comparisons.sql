--! about: The last comparisons on this connection, failed ones first.
select check_code, measure, billing_dimension, row_count, ours, theirs, difference, tolerance, proven
from window_reconciliation order by proven, check_code, measure, billing_dimension;
