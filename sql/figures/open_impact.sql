--! about: How much more than usual the open anomalies have cost so far, in USD. One row, of the books.
select 'books' as subject, cast(coalesce(sum(impact), 0) as decimal(38, 12)) as value
from anomalies
where is_notified and state = 'open' and is_up;
