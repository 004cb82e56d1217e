--! about: The first comparison in which an answer contradicts itself: all but the comparison with the books.
select compared, measure, ours, theirs, difference, tolerance
from window_proofs where not proven and compared <> $compared
order by compared, measure limit 1;
