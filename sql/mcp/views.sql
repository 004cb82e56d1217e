--! about: The views that people query, with what each is about.
select view_name as "view", comment as about
from duckdb_views()
where not internal and schema_name = 'main' and comment is not null
order by view_name;
