--! about: The names of DuckDB's own functions after FROM, as DuckDB compares names.
select distinct lower(function_name) as name from duckdb_functions() where function_type in ('table', 'table_macro')
