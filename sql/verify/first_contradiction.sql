--! about: The first comparison that shows an answer contradicting itself: any except the comparison with the books.
select check_code, measure, ours, theirs, difference, tolerance
from window_reconciliation where not proven and check_code <> $check_code
order by check_code, measure limit 1;
