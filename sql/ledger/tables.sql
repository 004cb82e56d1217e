--! about: The tables of an attached catalog.
select schema_name, table_name from duckdb_tables() where database_name = $catalog and not internal;
