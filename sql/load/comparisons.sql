--! about: The comparisons that were made last on this connection, the failed ones first.
select compared, measure, billing_dimension, amounts, ours, theirs, difference, tolerance, proven
from window_proofs order by proven, compared, measure, billing_dimension;
