--! about: How many alerts are open. One row, of the books.
select 'books' as subject, count(*) as value
from alerts
where is_open;
