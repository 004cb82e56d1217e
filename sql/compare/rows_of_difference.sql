--! about: The first rows that only the present warehouse has (side 1), or only the other one (side -1).
select * exclude (sides)
from difference
where sign(sides) = $side
order by all
limit $max_rows;
