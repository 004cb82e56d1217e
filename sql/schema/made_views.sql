--! about: A hash of the view definitions as DuckDB prints them.
select sha256(coalesce(string_agg(sql, '' order by schema_name, view_name), '')) as hash
from duckdb_views() where database_name = 'wh' and not internal;
