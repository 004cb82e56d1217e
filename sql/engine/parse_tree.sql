--! about: The parse tree of a statement ($sql) as JSON, as DuckDB's own parser reads it. Nothing is bound or run.
select json_serialize_sql(cast($sql as varchar), skip_null := true) as tree
